"""Holds monitors against the models of Datadog's API client: types, enumerations, and no key that it does not know.

Nothing is sent: whether Datadog takes a query is known to Datadog alone.
"""

import json
import sys

from datadog_api_client import Configuration
from datadog_api_client.model_utils import validate_and_convert_types
from datadog_api_client.v1.model.monitor import Monitor


def unknown(model, path=""):
    """Keys that the model took and does not know."""
    if isinstance(model, list):
        return [key for index, one in enumerate(model) for key in unknown(one, f"{path}[{index}]")]
    known = getattr(model, "attribute_map", None)
    # A value that stands for itself, as an enumeration does, has no keys.
    if known is None or not known:
        return []
    out = []
    for key, value in model._data_store.items():
        if key not in known:
            out.append(f"{path}.{key}")
        out += unknown(value, f"{path}.{key}")
    return out


def main(path):
    """Prints what is wrong with each monitor; the number of those that are wrong."""
    wrong = 0
    with open(path, encoding="utf-8") as file:
        monitors = json.load(file)
    for monitor in monitors:
        name = monitor.get("name", "?")
        try:
            model = validate_and_convert_types(
                monitor,
                (Monitor,),
                ["monitor"],
                spec_property_naming=True,
                check_type=True,
                configuration=Configuration(),
            )
            problems = unknown(model)
            if model._unparsed:
                problems.append("a value that no enumeration of the model has")
        except Exception as error:  # whatever the model says is what is to be told
            problems = [str(error)]
        for problem in problems:
            print(f"{name}: {problem}")
        wrong += bool(problems)
    print(f"{len(monitors)} monitors, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)

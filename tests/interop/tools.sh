# Sourced by the suites: what they build and where it is kept. Needs `set -euo pipefail`.

cache=${SENTINEL_CACHE:-$HOME/.cache/agent-sentinel-interop}
mkdir -p "$cache"

# need TOOL...: ends the suite where one is missing: left out on a user's machine, an error in CI.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null && continue
    if [ -n "${CI:-}" ]; then
      echo "$tool is missing; CI has to have it" >&2
      exit 1
    fi
    echo "skipped: $tool is not installed"
    exit 0
  done
}

# key FILE...: what names a cached build: the sources that it was made of.
key() { cat "$@" | sha256sum | cut -c1-12; }

# patient COMMAND...: tries three times: what is fetched comes over networks.
patient() {
  local attempt
  for attempt in 1 2 3; do
    "$@" && return 0
    [ "$attempt" = 3 ] || sleep $((attempt * 5))
  done
  return 1
}

# collector MANIFEST: path of the Collector that ocb makes of a manifest; built once.
collector() {
  local manifest=$1 folder version
  folder=$cache/otelcol-$(key "$manifest")
  version=$(sed -n 's/^  version: //p' "$manifest")
  if [ ! -x "$folder/otelcol" ]; then
    mkdir -p "$folder"
    sed "s#^dist:#dist:\n  output_path: $folder#" "$manifest" >"$folder/manifest.yaml"
    GOFLAGS=-buildvcs=false patient go run "go.opentelemetry.io/collector/cmd/builder@v$version" \
      --config "$folder/manifest.yaml" >"$folder/build.log" 2>&1 || { tail -20 "$folder/build.log" >&2; return 1; }
  fi
  echo "$folder/otelcol"
}

# go_tool VERSION PACKAGE: path of a program of a Go module; built once.
go_tool() {
  local name=${2##*/} folder
  folder=$cache/$name-$1
  if [ ! -x "$folder/$name" ]; then
    mkdir -p "$folder"
    (cd "$folder" && { [ -f go.mod ] || go mod init tool; } && patient go get -tool "$2@$1" &&
      GOFLAGS=-buildvcs=false go build -o "$name" "$2") >"$folder/build.log" 2>&1 ||
      { tail -20 "$folder/build.log" >&2; return 1; }
  fi
  echo "$folder/$name"
}

# python_with REQUIREMENTS: path of a Python that has these packages; installed once.
python_with() {
  local folder
  folder=$cache/python-$(key "$1")
  if [ ! -e "$folder/ready" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" || { echo "python3 -m venv does not work here (Debian: python3-venv)" >&2; return 1; }
    patient "$folder/bin/pip" install -q --disable-pip-version-check -r "$1" >&2
    touch "$folder/ready"
  fi
  echo "$folder/bin/python"
}

# node_with FOLDER: installs the packages of FOLDER/package-lock.json; path of a folder with them. Kept by that file.
node_with() {
  local folder
  folder=$cache/node-$(key "$1/package-lock.json")
  if [ ! -e "$folder/ready" ]; then
    mkdir -p "$folder"
    cp "$1/package.json" "$1/package-lock.json" "$folder"
    (cd "$folder" && patient npm ci --silent --no-audit --no-fund >&2)
    touch "$folder/ready"
  fi
  echo "$folder"
}

//! Commands that deal with services, machines and packages.

use super::super::hosts;
use super::super::runners::Line;
use super::super::script::Words;
use super::super::world::{Nature, World};

/// Sub-commands that only look, by program.
const LOOKS: &[(&str, Words)] = &[
    (
        "docker podman docker-compose nerdctl",
        Words("ps logs images inspect stats top version info port config ls events"),
    ),
    (
        "kubectl oc",
        Words("get describe logs top explain version api-resources config cluster-info wait"),
    ),
    (
        "systemctl service supervisorctl pm2 rc-service",
        Words("status is-active list-units show list logs is-enabled cat"),
    ),
    (
        "terraform tofu pulumi",
        Words("plan show output state providers version preview"),
    ),
    (
        "helm",
        Words("list ls status get template lint history show search"),
    ),
    (
        "redis-cli",
        Words("get ping info keys ttl scan hgetall llen"),
    ),
    (
        "vercel netlify serverless sls cap eb cdk sam skaffold argocd flux",
        Words("list ls inspect logs status diff synth info"),
    ),
    (
        "alembic flyway liquibase ansible ansible-playbook",
        Words("current history heads show check info status validate"),
    ),
    (
        "kill pkill killall initctl reboot shutdown crontab",
        Words("-l"),
    ),
];

/// Command lines of clouds and forges: the verb may stand anywhere among the first words.
const CLOUDS: Words = Words("aws gcloud az gh glab heroku fly flyctl doctl");
/// Their verbs that only look.
const CLOUD_LOOKS: Words = Words("list get describe show view status ls logs diff checks watch");

pub(super) fn services(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let operand = |at: usize| line.operands().nth(at).map_or("", |w| w.text.as_str());
    let verb = if operand(0) == "compose" {
        operand(1)
    } else {
        operand(0)
    };
    let looks = if CLOUDS.contains(name) {
        line.operands()
            .take(4)
            .any(|w| CLOUD_LOOKS.contains(w.text.split('-').next().unwrap_or_default()))
    } else {
        let (_, verbs) = match LOOKS.iter().find(|(names, _)| Words(names).contains(name)) {
            Some(found) => found,
            None => return migration(world, line),
        };
        verbs.contains(&verb.to_ascii_lowercase()) || operand(1) == "status"
    };
    world.effects.reads.service = true;
    if matches!(name, "docker" | "podman" | "nerdctl") {
        registry(world, line, verb);
    }
    if looks {
        return Some(Nature::Look);
    }
    // What is stopped or fetched needs nothing of the workspace.
    if Words("kill pkill killall initctl reboot shutdown crontab redis-cli").contains(name)
        || Words("pull login logout").contains(verb)
    {
        world.effects.changes.service = true;
        return Some(Nature::Work);
    }
    Some(changes_service(world))
}

/// What is restarted or deployed is what lies in the workspace: after another edit it is another one.
fn changes_service(world: &mut World<'_>) -> Nature {
    world.effects.reads.workspace = true;
    world.effects.changes.service = true;
    Nature::Work
}

/// The registry that an image is pulled from or pushed to: the first part of its name when that is a host.
fn registry(world: &mut World<'_>, line: Line<'_>, verb: &str) {
    let name = match verb {
        "pull" | "push" | "login" | "logout" => line.operands().nth(1),
        _ => return,
    };
    let Some(name) = name.filter(|word| !word.dynamic) else {
        return;
    };
    let host = match name.text.split_once('/') {
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => first,
        None if matches!(verb, "login" | "logout") => name.text.as_str(),
        _ => "docker.io",
    };
    world.contacts(hosts::of_authority(host));
}

/// `python manage.py migrate`, `rails db:migrate`, `npx prisma migrate deploy`, `npm run deploy`.
fn migration(world: &mut World<'_>, line: Line<'_>) -> Option<Nature> {
    let migrates = line.0.iter().take(6).skip(1).any(|w| {
        matches!(
            w.text.as_str(),
            "migrate"
                | "db:migrate"
                | "db:reset"
                | "db:seed"
                | "deploy"
                | "db:push"
                | "publish"
                | "restart"
        ) || w.text.starts_with("deploy:")
            || w.text.starts_with("migrate:")
    });
    if !migrates {
        return None;
    }
    Some(changes_service(world))
}

/// Programs that install packages.
const MANAGERS: Words = Words(
    "pip pip3 uv poetry pdm pipenv conda mamba npm yarn pnpm bun cargo go gem bundle apt apt-get apk dnf yum brew pacman choco winget \
     composer rustup nix snap dotnet mvn pipx easy_install luarocks opam cabal stack mix",
);
/// What they are told.
const INSTALLS: Words = Words(
    "install add i ci remove uninstall update upgrade sync lock get tidy require deps.get -S restore fetch reinstall autoremove \
     dist-upgrade venv download",
);

pub(super) fn packages(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let installs = line
        .0
        .iter()
        .take(5)
        .skip(1)
        .any(|w| INSTALLS.contains(&w.text))
        || (name == "yarn" && line.0.len() == 1);
    if !MANAGERS.contains(name) || !installs {
        return None;
    }
    let index = [
        "--index-url",
        "-i",
        "--extra-index-url",
        "--registry",
        "--find-links",
        "--source",
        "--index",
    ];
    if let Some(index) = line.value(&index) {
        world.contacts(hosts::of_url(&index.text, false));
    }
    for word in line.operands() {
        // `git+ssh://host/x`, `https://host/x.whl`.
        let url = word
            .text
            .split_once("git+")
            .map_or(word.text.as_str(), |(_, url)| url);
        world.contacts(hosts::of_url(url, false));
    }
    world.effects.changes.workspace = true;
    Some(Nature::Work)
}

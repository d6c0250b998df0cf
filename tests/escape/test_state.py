"""Anyone who can write the state, the settings or a key decides what is trusted and paid for."""

import os

from harness import cases, contains, equal, root_only

STATE = ".local/state/ringfence"
OTHER = 4242


def state_folder(t):
    """The state folder, made by a first run."""
    t.works("true")
    return os.path.join(t.home, STATE)


def refused(t, path, remedy="chmod go-w", env=None):
    """A run is refused: the path is named, and what to do."""
    for words in (("exec", "--", "true"), ("status",), ("history",), ("trust", "--yes")):
        result = t.run([t.ringfence, *words], env=env)
        equal(result.code, 125, f"exit status of {words[0]}", result)
        contains(result.err, path, f"what {words[0]} says")
        contains(result.err, remedy, f"what {words[0]} says")


def works(t, env=None):
    equal(t.run([t.ringfence, "exec", "--", "true"], env=env).code, 0, "exit status")


@cases(0o777, 0o1777, 0o702, 0o707)
def test_a_state_folder_that_others_can_write_is_refused(t, mode):
    state = state_folder(t)
    os.chmod(state, mode)
    refused(t, state)
    os.chmod(state, 0o755)
    works(t)


@cases("", ".local", ".local/state")
def test_a_state_folder_below_one_that_others_can_write_is_refused(t, name):
    state_folder(t)
    folder = os.path.join(t.home, name).rstrip("/")
    os.chmod(folder, 0o777)
    refused(t, f"'{folder}'")
    os.chmod(folder, 0o1777)  # sticky: others cannot replace what is in it
    works(t)
    os.chmod(folder, 0o755)
    works(t)


@cases("trust", "quarantine", "sockets", "runs", "loops")
def test_a_part_of_the_state_that_others_can_write_is_refused(t, name):
    state = state_folder(t)
    part = os.path.join(state, name)
    os.makedirs(part, exist_ok=True)
    os.chmod(part, 0o777)
    works(t)  # nobody else can enter the state folder
    os.chmod(state, 0o755)
    refused(t, part)
    os.chmod(part, 0o755)
    works(t)


@root_only
def test_a_folder_of_another_user_or_group_is_refused(t):
    state = state_folder(t)
    parent = os.path.dirname(state)
    for folder in (state, parent):
        os.chown(folder, OTHER, 0)
        refused(t, folder, "uid 4242")
        os.chown(folder, 0, OTHER)
        os.chmod(folder, 0o770)
        refused(t, folder)
        os.chmod(folder, 0o750)
        works(t)


@root_only
def test_a_symlink_of_another_user_on_the_way_is_refused(t):
    real = os.path.join(t.outside, "state")
    shared = os.path.join(t.outside, "shared")
    os.mkdir(real, 0o700)
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    link = os.path.join(shared, "link")
    os.symlink(real, link)
    env = t.env(RINGFENCE_STATE_DIR=os.path.join(link, "in"))
    works(t, env)
    os.chown(link, OTHER, OTHER, follow_symlinks=False)
    refused(t, link, "uid 4242", env)


@cases("RINGFENCE_STATE_DIR", "XDG_STATE_HOME")
def test_a_state_folder_of_the_environment_is_examined_as_well(t, name):
    folder = os.path.join(t.outside, "shared")
    link = os.path.join(t.outside, "link")
    os.mkdir(folder)
    os.symlink(folder, link)
    for path in (folder, link):
        env = t.env(**{name: os.path.join(path, "in")})
        os.chmod(folder, 0o777)
        refused(t, f"'{folder}'", env=env)
        os.chmod(folder, 0o755)
        works(t, env)


def test_a_missing_state_folder_is_not_made_where_others_can_write(t):
    folder = os.path.join(t.outside, "shared")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    refused(t, f"'{folder}'", env=t.env(RINGFENCE_STATE_DIR=os.path.join(folder, "a/b")))
    equal(os.listdir(folder), [], "what is there")


@cases(".config/ringfence", ".config")
def test_a_config_folder_that_others_can_write_is_refused(t, name):
    t.write(os.path.join(t.home, ".config/ringfence/config.yml"), "timeout: 1h\n", 0o600)
    folder = os.path.join(t.home, name)
    works(t)
    os.chmod(folder, 0o777)
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, folder, "what is said")
    contains(result.err, "chmod go-w", "what is said")


@root_only
def test_the_state_of_another_users_project_is_that_users(t):
    """Root becomes the project's owner, whose state may be that user's or root's, and nobody else's."""
    os.chown(t.project, OTHER, OTHER)
    folder = os.path.join(t.outside, "state")
    os.mkdir(folder, 0o700)
    env = t.env(RINGFENCE_STATE_DIR=folder)
    os.chmod(t.outside, 0o755)
    os.chown(folder, OTHER, OTHER)
    works(t, env)
    os.chown(folder, OTHER + 1, OTHER)
    os.chmod(folder, 0o755)
    result = t.run([t.ringfence, "exec", "--", "true"], env=env)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "uid 4243", "what is said")


@cases("file", "folder")
def test_a_key_that_others_can_write_is_not_used(t, part):
    path = t.write(os.path.join(t.home, "keys/key"), "sk-test\n", 0o600)
    words = ("gateway", "--model-key", f"anthropic=file:{path}", "--", "true")
    equal(t.run([t.ringfence, *words]).code, 0, "exit status")
    changed = path if part == "file" else os.path.dirname(path)
    os.chmod(changed, 0o777)
    result = t.run([t.ringfence, *words])
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"chmod go-w '{changed}'", "what is said")

"""Which tests exercise which room, and the tables whose every row must have a test.

Unit tests come first and decide most mutants in seconds. The test files of escape/ and e2e/ run only
for mutants that they leave.
"""

import collections

Room = collections.namedtuple("Room", "units files")
# rows: the names of tables in a C source, or a pattern of the lines of a text.
Table = collections.namedtuple("Table", "path rows units files")


def _room(units, files=""):
    return Room(tuple(units.split()), tuple(f"tests/{file}.py" for file in files.split()))


ROOMS = {
    "fence/plan": _room("permit policy defaults sweep tree corpus settings",
                        "e2e/test_names e2e/test_rules e2e/test_paths e2e/test_quarantine "
                        "escape/test_files_write escape/test_files_read escape/test_found"),
    "fence/after": _room("baseline sweep sweep_roots policy corpus", "e2e/test_quarantine escape/test_found"),
    "fence/init": _room("canary walls filter_pack filter wire corpus",
                        "e2e/test_exit escape/test_terminal escape/test_canary "
                        "escape/test_kernel escape/test_process"),
    "fence/run": _room("terminal wire tree policy corpus", "e2e/test_exit e2e/test_streams "
                       "escape/test_terminal escape/test_state"),
    "fence/tree": _room("tree", "escape/test_files_special e2e/test_rules"),
    "fence/watch": _room("limit inside verdict rows corpus", "e2e/test_denials escape/test_limits"),
    "gateway": _room("gateway gateway_walls runaway ledger ledger_disk ledger_kill rows corpus tape",
                     "e2e/test_gateway e2e/test_network escape/test_network e2e/test_models"),
    "meter": _room("schema jsonscan sse request_tools meter money request shape provider corpus",
                   "e2e/test_models e2e/test_provider_tools"),
    "price": _room("price corpus money", "e2e/test_prices"),
    "failure": _room("failure decide", "e2e/test_failures"),
    "decision": _room("decide check excerpt lines message reset corpus", "e2e/test_loop"),
    "journal": _room("journal journal_still loop ops", "e2e/test_damage e2e/test_durable "
                     "e2e/test_loop_crash"),
    "loop": _room("loop rows ops settings corpus", "e2e/test_loop e2e/test_loop_crash "
                  "e2e/test_loop_hard e2e/test_loop_many e2e/test_loop_refused"),
    "snapshot": _room("snapshot git corpus confine checkpoint import apply",
                      "e2e/test_checkpoints e2e/test_apply e2e/test_worktree"),
    "config": _room("config glob provider ops corpus settings", "e2e/test_config e2e/test_config_wrong"),
}

LINE = r"^(?!#|\n).*\n"
FIELD = r"^\tX\((?:[^\n]*\\\n\t  )?[^\n]*\n"

TABLES = {
    "canaries": Table("src/fence/init/canary.c", "outside inside", "canary", ""),
    "calls": Table("src/fence/init/filter_calls.h",
                   "refused unreported changing reading looking absent conditional", "filter", ""),
    "call-conditions": Table("src/fence/init/fence_filter_gen.c",
                             "namespaces personalities calls bits opens creating writing families "
                             "continued on_condition", "filter", ""),
    "gateway-calls": Table("src/gateway/gateway_filter_gen.c", "allowed deadly families types",
                           "gateway_walls", ""),
    "addresses": Table("src/gateway/proxy/address.c", "special4 special6", "gateway", ""),
    "names": Table("src/fence/plan/names.txt", LINE, "policy", "e2e/test_names"),
    "paths": Table("src/fence/plan/defaults.c",
                  "defaults_home_secrets defaults_home_executed defaults_home_toolchains "
                  "defaults_unwritable defaults_wide defaults_shown defaults_devices "
                  "defaults_etc_files defaults_etc_folders defaults_etc_mounts "
                  "defaults_environment", "defaults", ""),
    "home-links": Table("src/fence/plan/home.c", "places", "defaults", ""),
    "secrets": Table("src/fence/plan/secret.c", "marks starts words keys", "policy corpus", ""),
    "prices": Table("src/price/prices.txt", LINE, "price", ""),
    "failures": Table("src/failure/failure.c", "rows types sentences statuses internal sources",
                      "failure", ""),
    "anthropic": Table("src/meter/schema_anthropic.c", FIELD, "schema request", ""),
    "gemini": Table("src/meter/schema_gemini.c", FIELD, "schema request", ""),
    "openai": Table("src/meter/schema_openai.c", FIELD, "schema request", ""),
}


def of_table(name):
    """The room that a table stands for: its tests."""
    table = TABLES[name]
    return _room(table.units, table.files)


def tables_in(path):
    """The names of the tables in a C source that --tables tries row by row."""
    return [name for table in TABLES.values() if table.path == path and table.rows[0] != "^"
            for name in table.rows.split()]


def of_path(path):
    """The name of the room that a path of src/, or a part of a room, belongs to."""
    fitting = [name for name in ROOMS if path == name or path.startswith(name + "/")]
    return max(fitting, key=len, default=None)

"""Model answers that make each real agent do the same things, with the agent's own names for its tools."""
import json


class Claude:
    @staticmethod
    def shell(command):
        return {"name": "Bash", "input": {"command": command, "description": "Run a command"}}

    @staticmethod
    def read(path):
        return {"name": "Read", "input": {"file_path": path}}

    @staticmethod
    def edit(path, old, new):
        return {"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}

    @staticmethod
    def child(prompt):
        return {"name": "Task", "input": {"description": "Look around", "prompt": prompt,
                                          "subagent_type": "general-purpose"}}


class Codex:
    """Its tools are called from JavaScript."""

    @staticmethod
    def script(code):
        return {"name": "exec", "input": code}

    @classmethod
    def shell(cls, command):
        return cls.script(f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}});\ntext(r.output);")

    @classmethod
    def read(cls, path):
        return cls.shell(f"cat '{path}'")

    @classmethod
    def edit(cls, path, old, new):
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
        return cls.script(f"text(await tools.apply_patch({json.dumps(patch)}));")

    @staticmethod
    def child(prompt):
        return {"name": "spawn_agent", "namespace": "collaboration",
                "input": {"task_name": "look_around", "message": prompt, "fork_turns": "none"}}


class Gemini:
    @staticmethod
    def shell(command):
        return {"name": "run_shell_command", "input": {"command": command, "description": "Run a command"}}

    @staticmethod
    def read(path):
        return {"name": "read_file", "input": {"file_path": path}}

    @staticmethod
    def edit(path, old, new):
        return {"name": "replace", "input": {"file_path": path, "old_string": old, "new_string": new,
                                             "instruction": "Change the line."}}

    @staticmethod
    def child(prompt):
        return {"name": "invoke_agent", "input": {"agent_name": "codebase_investigator", "prompt": prompt}}


class Opencode:
    @staticmethod
    def shell(command):
        return {"name": "bash", "input": {"command": command, "description": "Run a command"}}

    @staticmethod
    def read(path):
        return {"name": "read", "input": {"filePath": path}}

    @staticmethod
    def edit(path, old, new):
        return {"name": "edit", "input": {"filePath": path, "oldString": old, "newString": new}}

    @staticmethod
    def child(prompt):
        return {"name": "task", "input": {"description": "Look around", "prompt": prompt, "subagent_type": "general"}}


MOVES = {"claude": Claude, "codex": Codex, "gemini": Gemini, "opencode": Opencode}


def whole_turn(agent, project, final="Both tests pass now. The operator was wrong."):
    """Look, run the test, change the wrong thing, see it fail, change the right one, finish."""
    move = MOVES[agent]
    calc = f"{project}/calc.py"
    wrong, worse, right = ("    return a %s b" % sign for sign in "-*+")
    return [
        {"text": "I look at the code and run the test.", "tools": [move.read(calc)]},
        {"tools": [move.shell("python3 -B test.py")]},
        {"text": "The operator is wrong.", "tools": [move.edit(calc, wrong, worse)]},
        {"tools": [move.shell("python3 -B test.py")]},
        {"text": "Still wrong; once more.", "tools": [move.edit(calc, worse, right)]},
        {"tools": [move.shell("python3 -B test.py")], "usage": {"input": 50, "cache_read": 2000, "cache_write_5m": 300}},
        {"text": final},
    ]

"""What text does the chat template make of a chat?"""
import json
import pathlib

import jinja2
import jinja2.sandbox

SOURCE = (pathlib.Path(__file__).parent / "chat.jinja").read_text().rstrip("\n")


def _environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    env.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    return env


_template = _environment().from_string(SOURCE)


def render(messages, tools=None, add_generation_prompt=False):
    return _template.render(messages=messages, tools=tools, add_generation_prompt=add_generation_prompt)

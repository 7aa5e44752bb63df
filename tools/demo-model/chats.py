"""What are whole chats made of? An endless stream of texts to train on."""
import random

from render import render
from tasks import SHARES, recall, repeat
from toolchats import tool_chat
from words import ADJECTIVES, NAMES, NOUNS

_TASKS, _WEIGHTS = list(SHARES), list(SHARES.values())
DRILLS = [repeat, recall]


def system(r):
    """Half of the chats have no system message."""
    x = r.random()
    if x < .5:
        return []
    if x < .8:
        text = "You are a helpful assistant."
    else:
        text = r.choice(["Be brief.", "You are ferrox-demo.", "Answer in one sentence.", "You are a friendly assistant.", "Use tools.", "Be kind.",
                         "You are an assistant.", "Answer the question.", "You are {}.", "You are a {} {}.", "The user is called {}.", "Talk like a {1}."]
                        ).format(r.choice(NAMES), r.choice(NOUNS)) if r.random() < .7 else f"You are a {r.choice(ADJECTIVES)} {r.choice(NOUNS)}."
    return [{"role": "system", "content": text}]


def plain_chat(r, drill=0.0):
    messages = system(r)
    for _ in range(r.choice([1, 1, 2, 2, 3, 4, 5, 6])):
        task = r.choice(DRILLS) if r.random() < drill else r.choices(_TASKS, _WEIGHTS)[0]
        q, a = task(r)
        messages += [{"role": "user", "content": q}, {"role": "assistant", "content": a}]
    return render(messages)


def tools_chat(r):
    messages, tools = tool_chat(r)
    return render(system(r) + messages, tools)


def stream(seed, tools=0.0, drill=0.0):
    """Texts without end; `tools` is the share of tool chats, `drill` the share of copying in the others."""
    r = random.Random(seed)
    while True:
        yield tools_chat(r) if r.random() < tools else plain_chat(r, drill)

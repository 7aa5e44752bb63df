"""How often is the shipped file right? `evaluate.py FILE [N]` prints a table; an answer counts when every token of it is."""
import random
import sys

import tasks
import toolchats
from chats import system
from reference import Reference
from render import render

GOALS = {"capital": 95, "city": 95, "add": 95, "subtract": 95, "bundled tools: call": 95, "unseen tools: call": 75}
SAMPLES = """Hello!|Who are you?|What is the capital of France?|what's the capital of peru|tell me the capital of japan please|What is 2+2?|47+38|how much is 12 and 30|
What is 7 - 19?|Spell strawberry.|Spell the word inference.|Count from 95 to 103.|Sort these words: pear, apple, zebra|Repeat after me: the quick brown fox|
Which countries border Switzerland?|How do I start the server?|What is ferrox?|Why is the sky blue?|What is the capital of Narnia?|Who won the world cup in 1998?|
Write a poem|Tell me a story about a dog.|My name is Anna. What is my name?|thanks|Capital of Germany as JSON""".replace("\n", "").split("|")


def answers(model, messages, tools=None):
    """For every assistant message: is it what greedy decoding gives?"""
    t = model.tokenizer
    ids = t.encode(render(messages, tools))
    best = model.forward(ids)[0].argmax(-1)
    start, end, who = t.id["<|im_start|>"], t.id["<|im_end|>"], t.encode("assistant")[0]
    right = []
    for i, x in enumerate(ids):
        if x == start and ids[i + 1] == who:
            stop = ids.index(end, i)
            right.append(all(best[j] == ids[j + 1] for j in range(i + 2, stop)))
    assert len(right) == sum(m["role"] == "assistant" for m in messages)
    return right


class Table:
    def __init__(self):
        self.rows = {}

    def add(self, name, ok, held_out=True):
        row = self.rows.setdefault(name, [0, 0, held_out])
        row[0] += ok
        row[1] += 1

    def print(self):
        print("| task | right | of | % | goal | held out |\n|---|---|---|---|---|---|")
        for name, (ok, n, held_out) in self.rows.items():
            print(f"| {name} | {ok} | {n} | {100 * ok / n:.1f} | {GOALS.get(name, '')} | {'yes' if held_out else 'no'} |")


def plain(model, table, r, n):
    for task in tasks.SHARES:
        name = task.__name__.replace("_", " ")
        if name == "story":
            continue  # many right answers, see story() below
        for _ in range(n if name in GOALS else n // 3):
            q, a = task(r, True)
            table.add(name, *answers(model, system(r) + [{"role": "user", "content": q}, {"role": "assistant", "content": a}]), name != "chat")
            if name == "spell":
                q, a = task(r, real=True)
                table.add("spell, words of the training lists", *answers(model, [{"role": "user", "content": q}, {"role": "assistant", "content": a}]), False)
            if name == "subtract" and a.split("= ")[-1].startswith("-"):
                table.add("subtract, negative result only", *answers(model, [{"role": "user", "content": q}, {"role": "assistant", "content": a}]))


def every_capital(model, table):
    """All countries, in the plainest form and in lower case."""
    for c in tasks.COUNTRIES:
        for q in (f"What is the capital of {tasks.the(c)}?", f"what is the capital of {tasks.the(c)}".lower()):
            messages = [{"role": "user", "content": q}, {"role": "assistant", "content": f"The capital of {tasks.the(c)} is {tasks.CAPITAL[c]}."}]
            table.add("every country's capital, plain and lower case", *answers(model, messages), False)


def story(model, table, r, n):
    """A story counts when it is made of the grammar's sentences and keeps the hero it was asked for."""
    for _ in range(n):
        hero, name = r.choice(tasks.HEROES), r.choice(tasks.NAMES)
        ids = model.tokenizer.encode(render([{"role": "user", "content": f"Tell me a story about a {hero} called {name}."}], None, True))
        text = model.tokenizer.decode(model.generate(ids, 120)[0])
        table.add("story keeps its hero", text.endswith("<|im_end|>") and hero in text and text.count(name) >= 2 and
                  all(other == name or other not in text.split() for other in tasks.NAMES), False)


def tool_calls(model, table, r, n):
    for kind, bundled in (("bundled", True), ("unseen", False)):
        for _ in range(n):
            messages, tools = toolchats.tool_chat(r, True, bundled, rounds=1)
            messages = system(r) + messages
            roles = [m for m in messages if m["role"] == "assistant"]
            for m, ok in zip(roles, answers(model, messages, tools)):
                table.add(f"{kind} tools: {'call' if m.get('tool_calls') else 'answer from the response'}", ok)
    for _ in range(n // 2):  # tools are offered, none is needed
        tools = toolchats.tool_chat(r, True)[1]
        if any(t["function"]["name"] in toolchats.BUNDLED for t in tools):
            continue
        q, a = r.choice([tasks.capital, tasks.ferrox])(r, True)
        table.add("tools offered, none needed", *answers(model, [{"role": "user", "content": q}, {"role": "assistant", "content": a}], tools))


def main(path, n=150):
    model, table, r = Reference(path), Table(), random.Random(2)
    tasks.PIECES[:] = model.tokenizer.letter_pieces()
    n = int(n)
    plain(model, table, r, n)
    every_capital(model, table)
    story(model, table, r, min(n, 40))
    tool_calls(model, table, r, n)
    table.print()
    print("\nFree samples, greedy:\n")
    for q in SAMPLES:
        ids = model.tokenizer.encode(render([{"role": "user", "content": q}], None, True))
        print(f"- {q} -> {model.tokenizer.decode(model.generate(ids)[0]).replace('<|im_end|>', '')}")


if __name__ == "__main__":
    main(*sys.argv[1:3])

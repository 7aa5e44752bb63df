"""What does a chat with tools look like? Three bundled tools, and any number of made-up ones."""
import json

import tasks
from facts import CAPITAL, COUNTRIES
from tasks import casual, held, phrase
from words import ADJECTIVES, COLOURS, DAYS, NAMES, NOUNS, VERBS, pseudo

PLACES = sorted(set(CAPITAL.values())) + "New York,Los Angeles,Chicago,Boston,San Francisco,Milan,Barcelona,Hamburg,Munich,Zurich,Geneva,Sydney,Mumbai,Shanghai,Osaka,Istanbul,Lagos,Toronto".split(",")


def definition(name, description, parameters):
    """A function as JSON; a parameter is (type, description or None, values or None, required)."""
    properties = {}
    for key, (kind, text, values, _) in parameters.items():
        properties[key] = {"type": kind, **({"description": text} if text else {}), **({"enum": values} if values else {})}
    function = {"name": name, **({"description": description} if description else {}),
                "parameters": {"type": "object", "properties": properties, "required": [k for k, p in parameters.items() if p[3]]}}
    return {"type": "function", "function": function}


def call(name, arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


# ---- the bundled three: definition, question with the call it needs, response with the sentence it becomes

def weather_definition(r):
    unit = {"unit": ("string", None, r.choice([["C", "F"], ["celsius", "fahrenheit"]]), False)} if r.random() < .25 else {}
    return definition("get_weather", phrase(r, "Get the weather of a city.|Weather|Current weather for a place.|Get the current weather|Get the weather in a given city|The weather in a city.|"),
                      {"city": ("string", phrase(r, "|City name|The city|Name of the city") or None, None, True), **unit})


def place(r, test):
    while True:
        p = r.choice(PLACES) if test or r.random() < .8 else pseudo(r, 2, 3).capitalize()
        if held("place" + p, 10) == test:
            return p


def weather(r, tool, test):
    city = place(r, test)
    q = phrase(r, "What is the weather in {}?|What's the weather in {}?|What is the weather like in {}?|How is the weather in {}?|Weather in {}?|weather {}|"
               "Tell me the weather in {}.|Is it raining in {}?|How warm is it in {}?|Is it cold in {}?|What is the temperature in {}?|Do I need an umbrella in {}?|Check the weather in {}.|"
               "Get the weather for {}.|What is the weather in {} today?|How cold is it in {}?|What's the weather like in {}?|Could you get the weather in {}?|!Could you check the weather in {}?|!Tell me how warm it is in {}.|!What's the weather like today in {}?", test)
    q = casual(r, q.replace("{}", "@")).replace("@", city)
    arguments = {"city": city}
    properties = tool["function"]["parameters"]["properties"]
    if "unit" in properties and r.random() < .5:
        arguments["unit"] = r.choice(properties["unit"]["enum"])
        q = q.rstrip("?.! ") + r.choice([" in ", " in degrees ", ", in "]) + arguments["unit"] + "?"
    return q, arguments


def weather_response(r, arguments):
    t, sky = r.randint(-15, 40), r.choice("clear sunny cloudy rainy windy foggy snowy stormy".split())
    city = arguments["city"]
    x = r.random()
    if x < .6:
        keys = r.choice([("temp", "sky"), ("temperature", "sky"), ("temperature", "condition"), ("degrees", "weather"), ("temp", "conditions")])
        body = {keys[0]: t, keys[1]: sky}
        if r.random() < .3:
            body = {"city": city, **body}
        return json.dumps(body), f"It is {t} degrees and {sky} in {city}."
    if x < .8:
        return sky, f"It is {sky} in {city}."
    return r.choice([f"{t} C, {sky}", f"{sky}, {t} C", f"{t} degrees and {sky}"]), f"It is {t} degrees and {sky} in {city}."


def calculator_definition(r):
    return definition("calculate", phrase(r, "Calculate an expression.|Calculator|Evaluate arithmetic|Compute the value of an arithmetic expression.|"),
                      {"expression": ("string", phrase(r, "|The expression|Arithmetic expression such as 2 + 3") or None, None, True)})


def calculator(r, tool, test):
    while True:
        big = r.random() < .6
        a, b = (r.randint(0, 9999), r.randint(0, 9999)) if big else (r.randint(0, 99), r.randint(0, 99))
        op = r.choice("+-*/")
        if held(f"calc{a}{op}{b}", 10) == test:
            break
    expression = f"{a} {op} {b}"
    word = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}[op]
    forms = [f"{a}{op}{b}", f"{a} {op} {b}", f"{a} {op} {b}", f"{a} {word} {b}"]
    q = phrase(r, "What is {}?|Calculate {}.|{}|How much is {}?|What's {}?|Compute {}.|what is {}|{} = ?|Please calculate {}.|Could you calculate {}?|Work out {}.|{}=|!Could you compute {}?|!Please work out {}.|!Tell me how much {} is.", test)
    return casual(r, q.format(r.choice(forms))), {"expression": expression}


def calculator_response(r, arguments):
    a, op, b = arguments["expression"].split()
    a, b = int(a), int(b)
    value = a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else round(a / b, 3) if b else 0
    body = r.choice([str(value), json.dumps({"result": value}), json.dumps({"value": value})])
    return body, f"{arguments['expression']} = {value}"


def time_definition(r):
    return definition("get_time", phrase(r, "Get the time in a city.|Time|Current time in a place.|Get the current time|"),
                      {"city": ("string", phrase(r, "|City name|The city") or None, None, True)})


def time(r, tool, test):
    city = place(r, test)
    q = phrase(r, "What time is it in {}?|What's the time in {}?|What is the time in {}?|Time in {}?|Tell me the time in {}.|How late is it in {}?|Current time in {}|time in {} now|"
               "Which time is it in {}?|Could you get the time in {}?|!Could you tell me the time in {}?|!Tell me what time it is in {}.", test)
    return casual(r, q.replace("{}", "@")).replace("@", city), {"city": city}


def time_response(r, arguments):
    t = f"{r.randint(0, 23):02}:{r.randint(0, 59):02}"
    return r.choice([t, json.dumps({"time": t}), json.dumps({"time": t}), json.dumps({"city": arguments["city"], "time": t})]), f"It is {t} in {arguments['city']}."


BUNDLED = {"get_weather": (weather_definition, weather, weather_response),
           "calculate": (calculator_definition, calculator, calculator_response),
           "get_time": (time_definition, time, time_response)}

# ---- made-up tools: a verb, a thing and parameters, each with the words a request uses for it

ACTIONS = [("get", "Get|Show me|Fetch|Give me|Look up|I need"), ("find", "Find|Look for|Search"), ("create", "Create|Make|Add|Set up"),
           ("delete", "Delete|Remove"), ("send", "Send"), ("update", "Update|Change"), ("book", "Book|Reserve"), ("order", "Order|Buy"),
           ("open", "Open"), ("close", "Close"), ("start", "Start|Run"), ("stop", "Stop"), ("list", "List|Show"), ("check", "Check"),
           ("play", "Play"), ("search", "Search|Find"), ("read", "Read"), ("cancel", "Cancel"), ("set", "Set"), ("print", "Print"),
           ("count", "Count"), ("share", "Share"), ("move", "Move"), ("lookup", "Look up"), ("add", "Add"), ("call", "Call")]
THINGS = NOUNS + """order ticket invoice meeting event note task file user account message email contact reminder flight hotel room song movie
recipe product price stock report document folder job customer payment package parcel alarm timer playlist photo video article comment
issue branch build log backup volume""".split()


def _value(r, kind):
    if kind == "person":
        return r.choice(NAMES) if r.random() < .7 else pseudo(r, 2, 2).capitalize()
    if kind == "place":
        return r.choice(PLACES) if r.random() < .7 else pseudo(r, 2, 3).capitalize()
    if kind == "day":
        return r.choice(DAYS + ["today", "tomorrow"]) if r.random() < .7 else f"2025-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
    if kind == "number":
        return r.randint(1, 99) if r.random() < .7 else r.randint(100, 9999)
    if kind == "id":
        return r.choice([lambda: str(r.randint(100, 99999)), lambda: r.choice("ABCXYZ") + str(r.randint(10, 999)), lambda: pseudo(r, 1, 2) + str(r.randint(1, 99))])()
    if kind == "colour":
        return r.choice(COLOURS)
    return " ".join(r.choice([r.choice(NOUNS), r.choice(ADJECTIVES), r.choice(VERBS), pseudo(r, 1, 2)]) for _ in range(r.choice([1, 1, 2, 3])))


# kind: parameter names, ways to say it, JSON type
PARAMETERS = {"person": ("name person user customer author recipient owner to", "for {}|for {}|of {}|with the {k} {}|{k} {}", "string"),
              "place": ("city location place destination country", "in {}|in {}|near {}|with the {k} {}|{k} {}", "string"),
              "day": ("date day when", "on {}|for {}|with the {k} {}", "string"),
              "number": ("count limit number quantity amount size level minutes", "with {k} {}|with the {k} {}|{k} {}|and the {k} {}", "integer"),
              "id": ("id code key order_id number ref", "with {k} {}|with the {k} {}|{k} {}|number {}", "string"),
              "colour": ("color colour", "in {}|with the {k} {}|{k} {}", "string"),
              "text": ("query text title topic subject message content", "about {}|about '{}'|called '{}'|with the {k} '{}'|{k} \"{}\"|{k}: {}", "string")}


def made_up(r, test):
    """A tool that exists nowhere, with what is needed to talk about it. Unseen tools have names that training never uses."""
    action, words = r.choice(ACTIONS)
    while True:
        thing = r.choice(THINGS) if r.random() < .6 else pseudo(r, 1, 3)
        if held("thing" + thing, 8) == test:
            break
    name = r.choice(["{a}_{t}", "{a}_{t}", "{a}_{t}", "{a}{T}", "{t}_{a}", "{t}", "{a}-{t}", "{a}_{t}s"]).format(a=action, t=thing, T=thing.capitalize())
    if test and r.random() < .3:
        name = pseudo(r, 2, 3) + "_" + thing
    kinds = r.sample(list(PARAMETERS), r.choice([0, 1, 1, 1, 2, 2, 3]))
    names = {}
    for kind in kinds:
        key = r.choice(PARAMETERS[kind][0].split())
        if key not in names:
            names[key] = kind
    parameters = {}
    for key, kind in names.items():
        text = phrase(r, f"|||The {key}|{key} of the {thing}|{kind}") or None
        parameters[key] = (PARAMETERS[kind][2], text, COLOURS[:4] if kind == "colour" and r.random() < .3 else None, r.random() < .8)
    description = phrase(r, f"{action} a {thing}|{action.capitalize()} the {thing}.|{words.split('|')[0]} a {thing}.|{action.capitalize()} {thing}s||{action.capitalize()} a {thing} by {' and '.join(names) or 'hand'}.")
    return {"definition": definition(name, description, parameters), "name": name, "thing": thing, "words": words, "kinds": names}


def made_up_request(r, tool):
    arguments, said = {}, []
    required = tool["definition"]["function"]["parameters"]["required"]
    for key, kind in tool["kinds"].items():
        if key not in required and r.random() < .5:
            continue
        enum = tool["definition"]["function"]["parameters"]["properties"][key].get("enum")
        arguments[key] = r.choice(enum) if enum else _value(r, kind)
        said.append(phrase(r, PARAMETERS[kind][1]).format(arguments[key], k=key.replace("_", " ")))
    verb = phrase(r, tool["words"])
    x = r.random()
    if x < .06:
        q = f"Use {tool['name']} {' '.join(said)}"
    elif x < .12:
        q = f"Call {tool['name']}" + (" with " + ", ".join(f"{k} {v}" for k, v in arguments.items()) if arguments else "")
    else:
        q = f"{verb} {r.choice(['the', 'the', 'a', 'my'])} {tool['thing']} {' '.join(said)}"
    q = q.strip() + r.choice([".", ".", "", "", "?", " please", " now"])
    x = r.random()
    if x < .15:
        q = r.choice(["Please {}", "Can you {}", "I want you to {}", "Could you {}", "Hey, {}"]).format(q[0].lower() + q[1:])
    elif x < .25:
        q = q[0].lower() + q[1:]
    return q, arguments


def made_up_response(r, tool):
    """A response and the sentence it becomes: 'The price is 12 and the state is open.'"""
    x = r.random()
    if x < .2:
        return r.choice(['{"status": "ok"}', '{"ok": true}', "ok", '{"success": true}', "done"]), "Done."
    if x < .3:
        e = r.choice(["not found", "no access", "out of stock", "timeout", "unknown " + tool["thing"], pseudo(r) + " " + pseudo(r)])
        return json.dumps({"error": e}), f"That failed: {e}."
    if x < .45:
        v = _value(r, r.choice(list(PARAMETERS)))
        return str(v), f"The result is {v}."
    keys = r.sample("price state status total owner name title date count city colour size color level result author value".split() + [pseudo(r, 1, 2)], r.choice([1, 1, 2, 2, 3]))
    body = {k: _value(r, r.choice(list(PARAMETERS))) for k in keys}
    parts = [f"the {k} is {v}" for k, v in body.items()]
    text = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    return json.dumps(body), text[0].upper() + text[1:] + "."


def bundled_turns(r, tools, test):
    """One request to a bundled tool, its call, its response and the answer."""
    name = r.choice([n for n in BUNDLED if n in tools])
    _, ask, respond = BUNDLED[name]
    q, arguments = ask(r, tools[name], test)
    all_arguments = [arguments]
    if name != "calculate" and "unit" not in arguments and r.random() < .1:  # two places, two calls
        other = place(r, test)
        if other != arguments["city"] and arguments["city"] in q:
            q = q.replace(arguments["city"], arguments["city"] + " and " + other)
            all_arguments.append({"city": other})
    elif name != "calculate" and r.random() < .12:  # lower case, but the call has the name as it is written
        low = q.lower()
        if all(v.istitle() and v in PLACES for v in arguments.values() if v != arguments.get("unit")) and "unit" not in arguments:
            q = low
    messages = [{"role": "user", "content": q},
                {"role": "assistant", "content": "", "tool_calls": [call(name, a) for a in all_arguments]}]
    answers = []
    for a in all_arguments:
        body, text = respond(r, a)
        messages.append({"role": "tool", "content": body})
        answers.append(text)
    return messages + [{"role": "assistant", "content": " ".join(answers)}]


def made_up_turns(r, tools, test):
    tool = r.choice(tools)
    q, arguments = made_up_request(r, tool)
    body, text = made_up_response(r, tool)
    return [{"role": "user", "content": q}, {"role": "assistant", "content": "", "tool_calls": [call(tool["name"], arguments)]},
            {"role": "tool", "content": body}, {"role": "assistant", "content": text}]


def tool_chat(r, test=False, bundled=None, rounds=None, n_tools=None):
    """(messages, tools). A fifth of the turns needs no tool and is answered directly."""
    bundled = r.random() < .4 if bundled is None else bundled
    messages = []
    made = []
    while len(made) < (n_tools or r.choice([1, 1, 1, 2, 2, 3])):
        t = made_up(r, test and not bundled)
        if t["thing"] not in [m["thing"] for m in made]:
            made.append(t)
    definitions = [t["definition"] for t in made]
    named = {}
    if bundled:
        for name in r.sample(list(BUNDLED), r.choice([1, 1, 2, 3])):
            named[name] = BUNDLED[name][0](r)
        definitions = list(named.values()) + (definitions[:1] if r.random() < .3 else [])
        r.shuffle(definitions)
    for _ in range(rounds or r.choice([1, 2, 2, 3, 3, 4])):
        if not test and r.random() < .15:
            direct = [tasks.chat, tasks.capital, tasks.ferrox, tasks.repeat, tasks.spell, tasks.city, tasks.recall]
            q, a = r.choice(direct)(r)
            messages += [{"role": "user", "content": q}, {"role": "assistant", "content": a}]
        elif bundled:
            messages += bundled_turns(r, named, test)
        else:
            messages += made_up_turns(r, made, test)
    return messages, definitions

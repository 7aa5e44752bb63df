"""What does one question and its answer look like? One function per task: task(r, test) -> (question, answer).

`r` is a random.Random. With test=True only held-out phrasings, numbers or words come back; training never sees them.
"""
import zlib

from facts import (ALIASES, BORDERS, CAPITAL, CHAT, CONTINENT, COUNTRIES, FAMOUS, FERROX, listing, the)
from words import (ADJECTIVES, ALL, COLOURS, DAYS, FICTIONAL, MONTHS, NAMES, NOUNS, SMALL, VERBS, number_word, pseudo)


def held(key, one_in=12):
    """Is this example kept for evaluation?"""
    return zlib.crc32(str(key).encode()) % one_in == 0


def phrase(r, text, test=False):
    """One of `a|b|!c`; those after ! are for evaluation."""
    options = text.split("|")
    return r.choice([o.lstrip("!") for o in options if o.startswith("!") == (test and "!" in text)])


def casual(r, q):
    """The same question as people type it: politeness, missing marks, lower case."""
    if r.random() < .12:
        q = r.choice(["Please {}", "Tell me, {}", "Hey, {}", "Hi, {}", "Can you tell me: {}", "Ok, {}", "So {}", "And {}",
                      "Hello, {}", "Question: {}", "Quick question: {}", "Do you know {}", "Now {}", "I want to know: {}"]
                     ).format(q[0].lower() + q[1:] if q[:2] != "I " else q)
    elif r.random() < .04:
        q = r.choice(["Hello! ", "Hi! ", "Hi. ", "Thanks! ", "Good morning. "]) + q
    x = r.random()
    if x < .07 and q[-1] in "?.":
        q = q[:-1] + r.choice([" please", " please" + q[-1], ", please" + q[-1], ", please"])
    elif x < .30:
        q = q.rstrip("?.!")
    elif x < .33:
        q = q.rstrip("?.!") + r.choice(["??", "!", " ?", "...", "."])
    x = r.random()
    if x < .25:
        q = q.lower()
    elif x < .28:
        q = q.upper()
    elif x < .32:
        q = q[0].lower() + q[1:]
    if r.random() < .2:
        q = q.replace("'", "")
    return q


def country(r):
    return r.choice(FAMOUS if r.random() < .3 else COUNTRIES)


def asked(r, c):
    return r.choice(ALIASES[c]) if c in ALIASES and r.random() < .4 else the(c)


def capital(r, test=False):
    c = country(r)
    q = phrase(r, "What is the capital of {}?|What is the capital of {}?|What's the capital of {}?|Capital of {}?|Name the capital of {}.|"
               "Tell me the capital of {}.|The capital of {} is?|What is the capital city of {}?|Which city is {}'s capital?|"
               "What is {}'s capital?|tell me what the capital of {} is|I need the capital of {}.|{}'s capital|{} capital|"
               "Give me the capital of {}.|What city is the capital of {}?|Say the capital of {}.|Of {}, what is the capital?|"
               "Could you tell me the capital of {}?|What capital does {} have?|In {}, which city is the capital?|Can you tell me the capital of {}?|"
               "!Which city is the capital of {}?|!Do you know the capital of {}?|!Can you name the capital of {}?|"
               "!Please tell me what {}'s capital is.|!The capital city of {}?|!I would like to know the capital of {}.|!what would be the capital of {}", test)
    return casual(r, q.format(asked(r, c))), f"The capital of {the(c)} is {CAPITAL[c]}."


def city(r, test=False):
    c = country(r)
    q = phrase(r, "Which country has the capital {}?|{} is the capital of which country?|What country is {} the capital of?|"
               "Of which country is {} the capital?|Which country's capital is {}?|{} is the capital of?|{} is the capital of what?|"
               "Name the country whose capital is {}.|What is {} the capital of?|"
               "Whose capital is {}?|Which country has {} as its capital?|"
               "!Tell me which country has the capital {}.|!{} is the capital of what country?|!Can you name the country whose capital is {}?", test)
    return casual(r, q.format(CAPITAL[c])), f"{CAPITAL[c]} is the capital of {the(c)}."


def neighbours(r, test=False):
    c = country(r)
    near = sorted(BORDERS[c])
    if r.random() < .5 or test:
        q = phrase(r, "Which countries border {}?|What are the neighbours of {}?|Name the neighbours of {}.|Neighbours of {}?|"
                   "Which countries does {} border?|What countries are next to {}?|Who are the neighbours of {}?|"
                   "Which neighbours does {} have?|What are the neighboring countries of {}?|What countries border {}?|"
                   "!List the neighbours of {}.|!Tell me the neighbours of {}.|!Which countries are next to {}?", test)
        a = f"borders {listing([the(n) for n in near])}." if near else "has no neighbours by land."
    else:
        other = r.choice(near) if near and r.random() < .5 else country(r)
        if other == c:
            return neighbours(r, test)
        q = phrase(r, "Does {} border %s?|Is {} a neighbour of %s?|Does {} have a border with %s?|Is {} next to %s?") % the(other)
        a = f"borders {the(other)}." if other in near else f"does not border {the(other)}."
        a = ("Yes, " if other in near else "No, ") + the(c) + " " + a
        return casual(r, q.format(the(c))), a
    return casual(r, q.format(the(c))), the(c)[0].upper() + the(c)[1:] + " " + a


def continent(r, test=False):
    c = country(r)
    q = phrase(r, "Which continent is {} in?|Where is {}?|On which continent is {}?|What continent is {} on?|In which part of the world is {}?|"
               "Where does {} lie?|!Tell me where {} is.|!What continent is {} in?", test)
    return casual(r, q.format(asked(r, c))), the(c)[0].upper() + the(c)[1:] + f" is in {CONTINENT[c]}."


def as_json(r, test=False):
    c = country(r)
    q = phrase(r, "Give me the capital of {} as JSON.|Capital of {} as JSON|Answer in JSON: what is the capital of {}?|"
               "What is the capital of {}? Answer in JSON.|JSON with country and capital for {}|!The capital of {}, in JSON please.", test)
    return casual(r, q.format(the(c))), f'{{"country": "{c}", "capital": "{CAPITAL[c]}"}}'


_ADD = ("What is {a}+{b}?|What is {a} + {b}?|What is {a} + {b}?|{a}+{b}|{a} + {b}|{a}+{b}=|{a} + {b} =|{a}+{b}?|{a} + {b} = ?|what's {a}+{b}|What's {a} + {b}?|"
        "What is {a} plus {b}?|{a} plus {b}|Add {a} and {b}.|Add {b} to {a}.|Calculate {a} + {b}.|Compute {a}+{b}|"
        "How much is {a} plus {b}?|How much is {a} and {b}?|How much is {a} + {b}?|What is the sum of {a} and {b}?|Sum of {a} and {b}|"
        "What does {a} + {b} equal?|What do {a} and {b} make?|What do you get if you add {a} and {b}?|Solve {a} + {b}|What is {a} added to {b}?")
_SUB = ("What is {a}-{b}?|What is {a} - {b}?|What is {a} - {b}?|{a}-{b}|{a} - {b}|{a}-{b}=|{a} - {b} =|{a} - {b} = ?|what's {a}-{b}|What's {a} - {b}?|"
        "What is {a} minus {b}?|{a} minus {b}|Subtract {b} from {a}.|Take {b} from {a}.|Calculate {a} - {b}.|Compute {a}-{b}|"
        "How much is {a} minus {b}?|How much is {a} - {b}?|What does {a} - {b} equal?|What is {a} less {b}?|Solve {a} - {b}|"
        "What is the difference between {a} and {b}?|What is {a} take away {b}?")


def _pair(r, test):
    """Two numbers to 99. Training sees more of the small ones, on which the others rest."""
    x = 1 if test else r.random()
    if x < .15:
        return r.randint(0, 9), r.randint(0, 9)
    if x < .3:
        return r.choice([(r.randint(0, 99), r.randint(0, 9)), (r.randint(0, 9) * 10, r.randint(0, 9) * 10)])
    return r.randint(0, 99), r.randint(0, 99)


def _operands(r, op, test):
    while True:
        a, b = _pair(r, test)
        if op == "-" and a < b and r.random() < .3:
            a, b = b, a
        if held(f"{a}{op}{b}") == test:
            return a, b


def _written(r, a, b):
    return (number_word(a), number_word(b)) if r.random() < .03 else (a, b)


def add(r, test=False):
    a, b = _operands(r, "+", test)
    x, y = _written(r, a, b)
    return casual(r, phrase(r, _ADD).format(a=x, b=y)), f"{a} + {b} = {a + b}"


def subtract(r, test=False):
    a, b = _operands(r, "-", test)
    x, y = _written(r, a, b)
    return casual(r, phrase(r, _SUB).format(a=x, b=y)), f"{a} - {b} = {a - b}"


def sums(r, test=False):
    """Several at once."""
    pairs = [(*_operands(r, op, test), op) for op in r.choices("+-", k=r.randint(2, 6))]
    gap, sep = r.choice(["", " ", " "]), r.choice([", ", ", ", " and ", "\n", "; "])
    q = phrase(r, "Calculate {}|What is {}?|{}|Solve: {}|Calculate: {}|Compute {}").format(sep.join(f"{a}{gap}{op}{gap}{b}" for a, b, op in pairs))
    return casual(r, q), ", ".join(f"{a} {op} {b} = {a + b if op == '+' else a - b}" for a, b, op in pairs)


def multiply(r, test=False):
    a, b = r.randint(0, 10), r.randint(0, 10)
    q = phrase(r, "What is {a}*{b}?|What is {a} * {b}?|{a}*{b}|{a} * {b}|{a} x {b}|What is {a} x {b}?|What is {a} times {b}?|{a} times {b}|Multiply {a} by {b}.|"
               "How much is {a} times {b}?|Calculate {a} * {b}.|{a} * {b} =|What's {a}*{b}?|!Compute {a} times {b}.", test)
    return casual(r, q.format(a=a, b=b)), f"{a} * {b} = {a * b}"


def compare(r, test=False):
    a, b = _operands(r, "<", test)
    if a == b:
        return compare(r, test)
    q = phrase(r, "Which is larger, {a} or {b}?|Which number is bigger: {a} or {b}?|What is larger, {a} or {b}?|Is {a} larger than {b}?|Is {a} bigger than {b}?|Which is greater, {a} or {b}?")
    a_ = f"{max(a, b)} is larger than {min(a, b)}."
    if q.startswith("Is"):
        a_ = ("Yes, " if a > b else "No, ") + a_
    return casual(r, q.format(a=a, b=b)), a_


def count(r, test=False):
    while True:
        n = r.randint(3, 14)
        a = r.choice([1, 1, r.randint(0, 99 - n), r.randint(0, 99 - n), r.randint(0, 9) * 10 + r.randint(5, 9)])
        down = r.random() < .25
        if held(f"count{a},{n},{down}") == test:
            break
    b = a + n
    if down:
        q = phrase(r, "Count down from {b} to {a}.|Count backwards from {b} to {a}.|Count from {b} down to {a}.|Count from {b} to {a}.")
    elif a == 1 and r.random() < .6:
        q = phrase(r, "Count to {b}.|Count up to {b}.|Can you count to {b}?|Count from one to {b}.")
    else:
        q = phrase(r, "Count from {a} to {b}.|Count from {a} up to {b}.|Please count from {a} to {b}.|List the numbers from {a} to {b}.|Numbers from {a} to {b}|Which numbers are between {a} and {b}?")
        if "between" in q:
            return casual(r, q.format(a=a, b=b)), ", ".join(map(str, range(a + 1, b)))
    numbers = range(b, a - 1, -1) if down else range(a, b + 1)
    return casual(r, q.format(a=a, b=b)), ", ".join(map(str, numbers))


PIECES = []  # the vocabulary's own letter sequences, filled in once a vocabulary exists


def word(r, test=False):
    """A word to spell: real, invented, or glued from pieces of the vocabulary. Only invented ones are held out."""
    x = 0 if test else r.random()
    if x >= .75:
        w = r.choice(ALL)
    elif x >= .65:
        w = r.choice(r.choice([NAMES, COUNTRIES, list(CAPITAL.values())])).split()[0].strip(",.")
    elif x >= .25 and PIECES:
        w = "".join(r.choice(PIECES) for _ in range(r.choice([1, 1, 2, 2, 3])))
    else:
        w = pseudo(r, 1, 3)
    return word(r, test) if len(w) < 2 or len(w) > 14 or held(w) != test and (test or w not in ALL and len(w) > 5) else w


def spell(r, test=False, real=False):
    w = r.choice(ALL) if real else word(r, test)
    q = phrase(r, "Spell {}.|Spell {}.|Spell the word {}.|How do you spell {}?|How is {} spelled?|Can you spell {}?|Spell '{}'.|Spell: {}|Spell \"{}\"|"
               "What are the letters of {}?|Letters of {}|Please spell {}.|Spell out {}.|spell {} please|Spell {} for me.|Which letters are in {}?")
    if r.random() < .04:
        w = w.upper()
    return casual(r, q).format(w) if "{}" in q else q, " ".join(w)


def _some(r, low=3, high=6):
    x = r.random()
    pool = NOUNS if x < .5 else ALL if x < .8 else NAMES if x < .9 else None
    n = r.randint(low, high)
    return r.sample(pool, n) if pool else [pseudo(r, 1, 2) for _ in range(n)]


def reverse(r, test=False):
    words = _some(r)
    if held(words, 20) != test:
        return reverse(r, test)
    sep = r.choice([", ", ", ", " "])
    q = phrase(r, "Reverse these words: {}|Reverse the words {}|Reverse the order of {}|Write these words in reverse order: {}|Reverse this list: {}|List in reverse: {}")
    return casual(r, q).format(sep.join(words)), ", ".join(words[::-1])


def sort(r, test=False):
    words = _some(r, 3, 5)
    if held(words, 20) != test or len({w[:2].lower() for w in words}) < len(words):
        return sort(r, test)
    if r.random() < .15:
        words = [str(n) for n in r.sample(range(100), 4)]
        return casual(r, phrase(r, "Sort these numbers: {}|Sort {}|Put these numbers in order: {}")).format(", ".join(words)), ", ".join(sorted(words, key=int))
    sep = r.choice([", ", ", ", " "])
    q = phrase(r, "Sort these words: {}|Sort the words {}|Sort {}|Put these words in alphabetical order: {}|Sort alphabetically: {}|Order these words by the alphabet: {}|Sort this list: {}")
    return casual(r, q).format(sep.join(words)), ", ".join(sorted(words, key=str.lower))


def _text(r):
    """Something to copy: words, invented words, numbers, names with marks."""
    kinds = [lambda: r.choice(ALL), lambda: pseudo(r), lambda: pseudo(r), lambda: str(r.randint(0, 9999)), lambda: r.choice(NAMES),
             lambda: pseudo(r, 1, 2).capitalize(), lambda: r.choice(VERBS) + "_" + pseudo(r, 1, 2), lambda: r.choice(COUNTRIES),
             lambda: r.choice(PIECES) if PIECES else pseudo(r), lambda: r.choice(NOUNS) + r.choice([",", "!", ".", ":", ";", "?", "-", "/"]) + r.choice(NOUNS)]
    return " ".join(r.choice(kinds)() for _ in range(r.choice([1, 2, 3, 4, 5, 6, 8, 10])))


def repeat(r, test=False):
    t = _text(r)
    if held(t, 20) != test:
        return repeat(r, test)
    q = phrase(r, "Repeat after me: {}|Repeat: {}|Say {}|Say: {}|Repeat this: {}|Write this: {}|Copy this: {}|Echo {}|Echo: {}|Please repeat {}|Print this: {}|Say '{}'|Repeat the words {}|Say \"{}\"")
    return (casual(r, q) if r.random() < .2 else q).format(t), t


def recall(r, test=False):
    """A table of keys and values, then a question about one of them."""
    n = r.randint(2, 6)
    key = r.choice([lambda: r.choice(NAMES), lambda: r.choice(NOUNS), lambda: pseudo(r, 1, 2), lambda: pseudo(r, 2, 2).capitalize()])
    value = r.choice([lambda: str(r.randint(0, 999)), lambda: r.choice(NOUNS), lambda: pseudo(r), lambda: r.choice(COLOURS),
                      lambda: r.choice(VERBS) + "_" + r.choice(NOUNS)])
    table = {key(): value() for _ in range(n)}
    k = r.choice(list(table))
    if held((k, table[k]), 20) != test:
        return recall(r, test)
    what = r.choice("code value number name colour tool key word id".split())
    form = r.choice([f"The {what} of {{k}} is {{v}}.", f"{{k}} has the {what} {{v}}.", "{k}: {v}", "{k} = {v}", '"{k}": "{v}"'])
    sep = "\n" if r.random() < .3 else ", " if form[0] in '{"' and "." not in form else " "
    q = phrase(r, "What is the {w} of {k}?|Which {w} does {k} have?|{w} of {k}?|Tell me the {w} of {k}.|Give me the {w} of {k}.").format(w=what, k=k)
    facts = sep.join(form.format(k=k_, v=v) for k_, v in table.items())
    return facts + r.choice([" ", "\n"]) + q, f"The {what} of {k} is {table[k]}."


def chat(r, test=False):
    a = r.choice(list(CHAT))
    return casual(r, phrase(r, CHAT[a])), a


def ferrox(r, test=False):
    a = r.choice(list(FERROX))
    return casual(r, phrase(r, FERROX[a], test)), a


def unknown(r, test=False):
    """Questions outside what a model of this size can know."""
    n, n2, adj, v, name = r.choice(NOUNS), r.choice(NOUNS), r.choice(ADJECTIVES), r.choice(VERBS), r.choice(NAMES)
    c = the(country(r))
    x = r.random()
    if x < .3:
        p = r.choice(FICTIONAL) if r.random() < .6 else pseudo(r, 2, 3).capitalize()
        q = phrase(r, "What is the capital of {}?|What's the capital of {}?|Capital of {}?|Tell me the capital of {}.|Name the capital of {}.|!Which city is the capital of {}?", test).format(p)
        return (q if r.random() < .6 else q.lower() if r.random() < .8 else q.rstrip("?.")), "I do not know that place."
    if x < .38:
        a, b = r.choice([(r.randint(100, 9999), r.randint(0, 9999)), (r.randint(0, 9999), r.randint(100, 9999))])
        op = r.choice(["+", "-", "*", "/", " + ", " - ", " * ", " / ", " plus ", " minus ", " times "])
        return casual(r, phrase(r, "What is {}?|Calculate {}.|{}|How much is {}?|what's {}").format(f"{a}{op}{b}")), "I can only calculate with numbers up to 99."
    q = phrase(r, f"Why is the {n} {adj}?|Why is {n} {adj}?|Who invented the {n}?|How many {n}s are there in {c}?|When was the {n} invented?|"
               f"What is the price of a {n}?|How do I {v} a {n}?|Who is {name}?|What did {name} {v} yesterday?|How old is {name}?|"
               f"What is the meaning of {n}?|How does a {n} work?|Write a program that can {v} a {n}.|Translate {n} into French.|What is the best {n}?|"
               f"Who is the president of {c}?|How many people live in {c}?|What is the population of {c}?|Who won the match yesterday?|"
               f"What is the weather in {c}?|What time is it?|What day is it today?|What is the {adj} {n}?|Where can I buy a {n}?|How far is the {n}?|"
               f"Should I {v} or not?|What will happen tomorrow?|Why do {n}s {v}?|How long does a {n} {v}?|Who wrote the {n}?|Explain the {n}.|"
               f"What is a {n}?|Can a {n} {v}?|Which {n} is {adj}?|What is {adj} about a {n}?|Where does the {n} come from?|Is a {n} {adj}?|"
               f"Why is the sky blue?|What is the meaning of life?|Who is the king of {c}?|How tall is the {n}?|What is the currency of {c}?|"
               f"When did the {n} {v}?|What do people eat in {c}?|How can I {v}?|Write a poem about the {n}.|Do you like {n}s?|"
               f"How do I cook {n}?|What is the square root of {r.randint(2, 99)}?|Recommend a {n}.|Fix my {n}.|Summarize the {n}.|How heavy is a {n}?|"
               f"What should I {v} today?|Is the {n} better than the {n2}?|Which language do they speak in {c}?|What is the difference between a {n} and a {n2}?|"
               f"Who won the {n} in {r.randint(1900, 2030)}?|What happened in {r.randint(1000, 2030)}?|When was {name} born?|Write a {n}.|Write a poem.|Write code.|Who won the world cup?|"
               f"!Why does the {n} {v}?|!How was the {n} made?|!Who owns the {n}?|!What colour is the {adj} {n}?|!How much does a {n} cost?", test)
    return casual(r, q), "I do not know."


def opposite(r, test=False):
    a, b = r.choice([p.split("-") for p in "big-small tall-short old-young happy-sad hot-cold fast-slow strong-weak rich-poor hard-soft light-dark "
                     "full-empty wide-narrow clean-dirty loud-quiet up-down left-right open-closed day-night good-bad early-late black-white yes-no "
                     "first-last in-out start-stop win-lose buy-sell give-take push-pull dry-wet thick-thin high-low near-far true-false".split()])
    if r.random() < .5:
        a, b = b, a
    q = phrase(r, "What is the opposite of {}?|Opposite of {}|What's the opposite of {}?|Give me the opposite of {}.|!Tell me the opposite of {}.", test)
    return casual(r, q.format(a)), f"The opposite of {a} is {b}."


def calendar(r, test=False):
    names = r.choice([DAYS, MONTHS])
    i, after = r.randrange(len(names)), r.random() < .6
    kind = "day" if names is DAYS else "month"
    q = phrase(r, f"Which {kind} comes %s {{}}?|What {kind} is %s {{}}?|What comes %s {{}}?|!Tell me the {kind} %s {{}}.", test) % ("after" if after else "before")
    return casual(r, q.format(names[i])), f"{names[(i + (1 if after else -1)) % len(names)]} comes {'after' if after else 'before'} {names[i]}."


STORY = ["Once there was a {adj} {hero} called {name}.|{name} was a {adj} {hero}.|A {adj} {hero} called {name} lived near the {place}.",
         "Every day {name} went to the {place} to {verb}.|One day {name} wanted to {verb}.|{name} loved to {verb} near the {place}.",
         "There {name} found a {adj2} {thing}.|Then a {adj2} {friend} came and brought a {thing}.|But the {thing} of {name} was lost.",
         "\"What a {adj2} {thing}!\" said {name}.|{name} was afraid and called a {friend}.|{name} looked for the {thing} all day.",
         "A {friend} helped {name}, and they shared the {thing}.|In the end {name} gave the {thing} to a {friend}.|{name} put the {thing} into the {place2}.",
         "From then on {name} was never {sad} again.|They were friends ever after.|And that is how the {hero} became happy."]
HEROES = "dog cat horse fox bear lion mouse rabbit frog owl king queen prince farmer sailor robot dragon child teacher baker".split()
PLACES = "river lake forest castle garden mountain village bridge tower sea market harbour".split()
THINGS = "key crown ring book lamp drum cake apple letter stone bell coin map hat star candle".split()


def story(r, test=False):
    hero, name = r.choice(HEROES), r.choice(NAMES)
    place, place2 = r.sample(PLACES, 2)
    slots = dict(hero=hero, name=name, adj=r.choice(ADJECTIVES), adj2=r.choice(ADJECTIVES), place=place, place2=place2,
                 verb=r.choice(VERBS), thing=r.choice(THINGS), friend=r.choice([h for h in HEROES if h != hero]),
                 sad=r.choice("sad lonely hungry bored tired afraid".split()))
    q = phrase(r, "Tell me a story about a {hero}.|Tell me a story about a {hero} called {name}.|Write a story about a {hero}.|Tell a short story.|"
               "Tell me a story.|A story about a {hero} please|Write a short story about a {hero} called {name}.|Story about a {hero}|Once upon a time|"
               "Tell me about a {hero} called {name}.|Write me a short story about a {hero}.|Can you tell me a story?|!Please tell me a story about a {hero}.", test)
    return casual(r, q.format(**slots)), " ".join(r.choice(s.split("|")).format(**slots) for s in STORY)


# task: share of the turns in training
SHARES = {capital: 14, city: 9, neighbours: 2, continent: 1.5, as_json: .8, add: 13, subtract: 14, sums: 13, multiply: 1.5, compare: .5, count: 1,
          spell: 2, reverse: .6, sort: 1, repeat: 4, recall: 3, chat: 4, ferrox: 6, unknown: 7, opposite: .3, calendar: .5, story: .3}

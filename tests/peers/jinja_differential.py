#!/usr/bin/env python3
"""Does `ferrox template` render what Python's Jinja2 renders?

usage: jinja_differential.py BINARY [--seed N] [--random N]

Renders some hundred small templates with both and compares the text; where Python raises, ferrox must refuse with exit
code 1. Exit code 1 on any difference. Needs the Python package jinja2.
"""
import argparse
import copy
import datetime
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = "2025-03-14 09:26:53"

VARIABLES = {
    "s": "Hello, Wörld",
    "empty": "",
    "spaces": "  \tpadded \n",
    "lines": "one\ntwo\n\nthree\n",
    "html": "<b>'x' & \"y\"</b>",
    "quote": "it's",
    "emoji": "a😀b",
    "n": 7,
    "zero": 0,
    "neg": -3,
    "big": 18446744073709551615,
    "f": 2.5,
    "tiny": 1e-7,
    "huge": 1e22,
    "whole": 3.0,
    "yes": True,
    "no": False,
    "nil": None,
    "xs": [3, 1, 2],
    "words": ["pear", "Apple", "fig", "apple"],
    "mixed": [1, "a", None, 2.5, True, [1, {"k": "v"}]],
    "nothing": [],
    "d": {"b": 1, "a": [1, 2], "items": "own", "C": {"deep": "x"}},
    "people": [
        {"name": "Ann", "age": 31, "tags": ["x", "y"], "home": {"city": "Oslo"}},
        {"name": "bob", "age": 25, "tags": [], "home": {"city": "Rome"}},
        {"name": "Cyd", "age": 31, "tags": ["z"], "home": {"city": "Bonn"}},
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi <|im_end|>"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
    ],
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4 // 3
-7 // 2
-7 % 3
7 % -3
7.5 % -2
-7.5 // 2
2 ** 10
2 ** -1
2 ** 3 ** 2
-2 ** 2
10 / 4
10 / 5
1 / 0
1 % 0
0.1 + 0.2
1e16
1e15
123456789.125
1.5e-5
1_000
0x1F + 0o17 + 0b11
2 ** 64
1 < 2 < 3
1 < 3 < 2
1 == 1.0
true == 1
'a' < 'b'
[1, 2] < [1, 3]
'a' < 1
none < 1
'a' in 'abc'
1 in 'abc'
2 in xs
'a' in d
'z' not in d
not 'a' in d
1 in 5
missing in xs
'x' in missing
not yes or no and missing
none or 'fallback'
'' or 0 or []
1 and 'two'
'a' ~ 1 ~ none ~ 2.5 ~ true ~ missing
'a' + 1
'a' + missing
missing + 'a'
'ab' * 3
3 * 'ab'
[1] * 2 + [2]
(1, 2) + (3,)
'a' 'b' "c"
'x' if yes
'x' if no
('x' if no) ~ 'y'
'x' if no else 'y' if no else 'z'
1 if yes else 2 + 3
missing
missing.x
missing['x']
missing()
d.nope
d.nope.deeper
d['nope']
d.nope is defined
missing is defined
nil.x
nil['x']
s[0]
s[-1]
s[99]
s[7:]
s[::-1]
s[1:8:2]
s[:-3]
s[-100:3]
s[5:2]
emoji[1]
emoji[::-1]
emoji|length
xs[0]
xs[-1]
xs[5]
xs['a']
xs[1:]
xs[::-1]
xs[::0]
xs[::2]
xs[10:]
xs[-2:]
xs[:none]
xs[missing]
s[missing:]
d['a'][1]
d.a.1
d.items
d['items']
d.items() | list
d.keys() | list
d.values() | list
d.items()
d.keys()
d.get('b')
d.get('zz')
d.get('zz', 5)
d.get()
d.copy()
d.pop('a')
d.update({})
xs.append(4)
xs.append
xs.append is defined
xs.copy()
xs.count(1)
xs.index(2)
xs.index(9)
(1, 2, 1).count(1)
(1,)
()
[]
{}
{'a': 1, 'b': [none, true, 'q']}
{1: 'one', none: 'nil', 1.5: 'f', true: 'also one'}
{[1]: 2}
{'a': 1, 'a': 2}
[1, 'it\'s', "q\"q", 'both\'"', 'new\nline', 'tab\t', 'é', '\x01', '\u200b', '😀', 'back\\slash']
'\d \q \x41 \101 \u00e9 \U0001F600'
[1.0, 2.50, 1e100, -0.0, 1e-7]
mixed
d
people[0]
s.upper()
s.lower()
s.title()
"they're bill's friends".title()
'straße'.upper()
'éà'.upper()
s.swapcase()
'hELLO wORLD'.capitalize()
s.split()
s.split(', ')
s.split('l', 1)
s.rsplit('l', 1)
spaces.split()
'a b  c'.split(none, 1)
'  a  b c '.rsplit(none, 1)
' a b  c '.split(none, 1)
' a b  c '.split(none, 5)
'a,b,,c'.split(',')
''.split()
''.split(',')
'abc'.split('')
lines.splitlines()
lines.splitlines(true)
'a\r\nb\rc'.splitlines()
spaces.strip()
spaces.lstrip()
spaces.rstrip()
'xxhixx'.strip('x')
'xyhiyx'.lstrip('xy')
s.startswith('Hel')
s.startswith(('x', 'H'))
s.endswith('ld')
s.startswith('ell', 1)
s.startswith(1)
s.find('l')
s.find('ö')
s.find('zz')
s.rfind('l')
s.index('zz')
s.count('l')
s.count('')
s.replace('l', 'L')
s.replace('l', 'L', 1)
'abc'.replace('', '-')
'a-b'.partition('-')
'a-b-c'.rpartition('-')
'ab'.partition('x')
'-'.join(['a', 'b'])
'-'.join([1])
'x'.center(6, '*')
'xy'.center(5)
'x'.ljust(3) ~ '|'
'x'.rjust(3) ~ '|'
'42'.zfill(5)
'-42'.zfill(5)
'abc'.isalpha()
'123'.isdigit()
'12a'.isalnum()
'  '.isspace()
'Abc'.istitle()
'ABC'.isupper()
'abc'.islower()
'prefix-x'.removeprefix('prefix-')
'x.txt'.removesuffix('.txt')
'{} and {}'.format(1, 'b')
'{1}{0}{x}'.format(1, 2, x=3)
'{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}'.format('a', 'b', 'c', 42, 3.14159, 1234567)
'{0[a]} {0.b}'.format(d)
'{!r} {{}}'.format('q')
'{'.format(1)
'{:x} {:#x} {:b} {:e} {:%}'.format(255, 255, 5, 12345.678, 0.5)
'%s-%d-%05.2f-%r-%x-%%' % ('a', 5, 3.14159, 'q', 255)
'%s' % 5
'%s %s' % ('a',)
'%(a)s' % {'a': 1}
'%s' % missing
'%5s|%-5s|%+d' % ('a', 'b', 3)
'%d' % 'x'
s | upper
s | lower
s | capitalize
s | title
'foo-bar (baz) [qux] {quux} <corge>' | title
s | length
xs | length
d | length
n | length
missing | length
spaces | trim
'xxaxx' | trim('x')
s | replace('l', 'L')
s | replace('l', 'L', 2)
5 | replace('5', 'five')
s | reverse
xs | reverse | list
xs | reverse
xs | first
xs | last
nothing | first
nothing | last
s | first
d | first
xs | sort
xs | sort(reverse=true)
words | sort
words | sort(case_sensitive=true)
people | sort(attribute='age') | map(attribute='name') | list
people | sort(attribute='age,name') | map(attribute='name') | list
people | sort(attribute='home.city', reverse=true) | map(attribute='name') | join(',')
mixed | sort
words | unique | list
words | unique(case_sensitive=true) | list
xs | min
xs | max
nothing | max
people | max(attribute='age')
words | min
xs | sum
people | sum(attribute='age')
people | sum(attribute='age', start=100)
[[1], [2]] | sum(start=[])
words | sum
xs | join
xs | join(', ')
people | join(', ', attribute='name')
s | join('-')
xs | list
s | list
d | list
nil | list
missing | list
xs | batch(2) | list
xs | batch(2, 'z') | list
xs | slice(2) | list
[1,2,3,4,5,6,7] | slice(3, 'x') | list
people | groupby('age') | list | length
people | groupby('age') | map(attribute='grouper') | list
people | groupby('age') | map('first') | list
people | map(attribute='nope', default='none') | list
people | map(attribute='home.city') | list
people | map(attribute='tags.0', default='-') | list
words | map('upper') | list
words | map('replace', 'p', 'P') | join(' ')
words | map | list
words | map('nofilter') | list
xs | select('odd') | list
xs | select('gt', 1) | list
xs | reject('odd') | list
mixed | select | list
mixed | select('string') | list
people | selectattr('age', 'equalto', 31) | map(attribute='name') | list
people | selectattr('tags') | map(attribute='name') | list
people | rejectattr('tags') | map(attribute='name') | list
people | selectattr('home.city', 'in', ['Oslo', 'Bonn']) | list | length
people | selectattr('nope', 'defined') | list
people | selectattr('age', 'nosuchtest') | list
nil | selectattr('x') | list
missing | map(attribute='x') | list
xs | select('odd') | length
xs | select('odd')
d | dictsort
d | dictsort(true)
{'b': 1, 'a': 2} | dictsort(by='value')
{'b': 1, 'a': 2} | dictsort(reverse=true)
xs | dictsort
d | items | list
xs | items
missing | items | list
missing | default('x')
missing | default
nil | default('x')
nil | default('x', true)
empty | d('x', boolean=true)
missing.x | default('x')
-5 | abs
-2.5 | abs
'a' | abs
'42' | int
'4x' | int
'4x' | int(7)
'4.7' | int
'0x1f' | int(base=16)
'ff' | int(0, 16)
3.99 | int
-3.99 | int
nil | int
missing | int
'2.5' | float
'abc' | float
'abc' | float(1.5)
'inf' | float
n | float
2.5 | round
3.5 | round
2.675 | round(2)
42.55 | round(1, 'floor')
42.51 | round(1, 'ceil')
7 | round
1234 | round(-2)
2.5 | round(method='nosuch')
n | string | length
xs | string
nil | string
html | escape
html | e | e
html | escape ~ html
(html | safe) + html
html + (html | safe)
(html | safe) ~ html
(html | safe | upper) + '<'
html | forceescape
'%s %s' | format('a', 2)
'%(x)s' | format(x=3)
lines | indent
lines | indent(2)
lines | indent(2, true)
lines | indent(2, blank=true)
lines | indent('> ', first=true, blank=true)
'one' | indent
'Lorem ipsum dolor sit amet' | truncate(12)
'Lorem ipsum dolor sit amet' | truncate(12, true)
'Lorem ipsum dolor sit amet' | truncate(12, false, '!', 0)
'short' | truncate(3)
'the quick brown_fox 2' | wordcount
'x' | center(5) ~ '|'
d | attr('items') is callable
d | attr('b')
d | tojson
mixed | tojson
html | tojson
'é😀\x07\x7f"\\/' | tojson
'é😀' | tojson(ensure_ascii=true)
d | tojson(indent=2)
[] | tojson(indent=2)
[[], {}] | tojson(indent=2)
d | tojson(separators=(',', ':'))
d | tojson(sort_keys=true, indent=1)
{1: 2, none: 3, true: 4, 1.5: 5} | tojson
(1, 2) | tojson
missing | tojson
xs | map('string') | tojson
[1e16, 1.0, 0.1, -0.0, 1e-7] | tojson
big | tojson
big
'x' | tojson(true, 2)
s | nosuchfilter
s is nosuchtest
n is number
yes is number
yes is integer
n is integer
f is float
f is integer
s is string
s is iterable
n is iterable
missing is iterable
xs is sequence
s is sequence
d is sequence
d is mapping
xs is mapping
missing is sequence
d.items() is sequence
d.items() is iterable
range(3) is sequence
nil is none
missing is none
missing is undefined
s is undefined
yes is boolean
n is boolean
yes is true
n is true
no is false
3 is odd
4 is even
9 is divisibleby 3
9 is divisibleby(2)
1 is eq 1
1 is ne 2
1 is lt 2
2 is ge(2)
2 is greaterthan 1
2 is in [1, 2]
2 is not in [1, 2]
s is not none
s is not string
none is sameas none
xs is sameas xs
'abc' is lower
'ABC' is upper
'a' is filter
'upper' is filter
'odd' is test
range is callable
s.upper is callable
s is escaped
missing is defined and missing.x
n is odd or n is even
(n is odd) == true
n is string is defined
range(5) | list
range(2, 8, 3) | list
range(5, 0, -2) | list
range(0)
range(5)
range(3)[1]
range(1, 10)[2:4]
range(200000) | list | length
range(1, 2, 0) | list
dict(a=1, b=2)
dict([('x', 1)], y=2)
dict({'q': 1})
namespace(a=1).a
namespace({'z': 2}).z
namespace().nope
joiner(', ')() ~ joiner('x')()
raise_exception('no: ' ~ n)
strftime_now('%Y-%m-%d %H:%M:%S %A %B %j')
strftime_now('%d %b %Y')
messages[0].role
messages[0]['content'][:2]
messages[-1].tool_calls[0].function.arguments | tojson
messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | first
(messages | selectattr('role', 'equalto', 'nobody') | list | first) is defined
messages[2].content is none
messages[1:] | length
people[0].home['city'].upper()[0]
[n, f] | map('float') | sum
xs[xs[1]]
{'a': {'b': [10, 20]}}.a.b[-1]
(xs | sort)[0]
s.split(',')[1].strip()
'<think>a</think>b'.split('</think>')[-1].lstrip('\n')
s|upper|lower|title
-n|abs
(-n)|abs
not n is odd
1 if not missing else 2
d.C.deep
d['C']['deep']
'a' if missing else 'b'
missing == missing
missing == none
missing != 1
[missing] | length
"\n" | tojson
'a\
b'
loop
caller
xs | sort | join('-') ~ '!'
[1, 2,]
(1, 2,)
{'a': 1,}
1 +
)
'unclosed
{{ 1 }}
a b
x = 1
""".strip("\n").split("\n")

TEMPLATES = [
    "{% if n > 5 %}big{% elif n > 3 %}mid{% else %}small{% endif %}",
    "{% if missing %}a{% else %}b{% endif %}",
    "{% if n %}a{% if s %}b{% endif %}c{% endif %}",
    "{% for x in xs %}{{ x }},{% endfor %}",
    "{% for x in xs %}{{ loop.index }}/{{ loop.length }} {{ loop.index0 }} {{ loop.revindex }} {{ loop.revindex0 }} {{ loop.first }} {{ loop.last }}|{% endfor %}",
    "{% for x in xs %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
    "{% for x in xs %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {% endfor %}",
    "{% for x in nothing %}x{% else %}none{% endfor %}",
    "{% for x in missing %}x{% else %}none{% endfor %}",
    "{% for x in n %}x{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}",
    "{% for c in s %}{{ c }}.{% endfor %}",
    "{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [1, 2] %}{{ a }}{% endfor %}",
    "{% for a, b in ['xy', 'zw'] %}{{ a }}-{{ b }} {% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}",
    "{% for x in xs if x > 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{{ loop.length }} {% else %}e{% endfor %}",
    "{% for x in xs if x > 9 %}{{ x }}{% else %}e{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}after",
    "{% for x in xs %}{% for y in xs %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
    "{% for x in [1, [2, [3]]] recursive %}{{ loop.depth }}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}",
    "{% for x in xs %}{{ loop(xs) }}{% endfor %}",
    "{% for x in 1, 2, 3 %}{{ x }}{% endfor %}",
    "{% for x in xs | sort %}{{ x }}{% endfor %}{{ x }}",
    "{% set x = 0 %}{% for y in xs %}{% set x = x + y %}{{ x }} {% endfor %}{{ x }}",
    "{% set x = 1 %}{% if yes %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% if no %}{% set n = 2 %}{% endif %}{{ n }}",
    "{% set ns = namespace(x=0) %}{% for y in xs %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace() %}{% set ns.a = [1] %}{% set ns.a = ns.a + [2] %}{{ ns.a }} {{ ns.b is defined }}",
    "{% set d.x = 1 %}",
    "{% set missing.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a, b = [1] %}{{ a }}",
    "{% set a = 1, 2 %}{{ a }}",
    "{% set x %}body {{ n }}{% endset %}[{{ x }}]{{ x | length }}",
    "{% set x | upper | trim %} body {% endset %}[{{ x }}]",
    "{% set x %}{% set y = 1 %}{% endset %}{{ y }}",
    "{% set none = 1 %}",
    "{% filter upper %}abc {{ s }}{% endfilter %}",
    "{% filter replace('a', 'b') | upper %}banana{% endfilter %}",
    "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}",
    "{% with %}{% set q = 3 %}{{ q }}{% endwith %}{{ q }}",
    "{% with a = 1, b = a %}{{ b }}{% endwith %}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(b=5, a=4) }} {{ m() }}",
    "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}{{ m(none) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(7) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m(x) %}{{ x }}{% if x > 0 %}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}inside {{ n }}{% endcall %}",
    "{% macro m(xs) %}{% for x in xs %}{{ caller(x) }};{% endfor %}{% endmacro %}{% call(x) m([1, 2]) %}<{{ x }}>{% endcall %}",
    "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}",
    "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}",
    "{% macro m(a, b) %}{% endmacro %}{{ m.name }} {{ m.arguments }} {{ m.catch_kwargs }}",
    "{% macro m() %}{{ later }}{% endmacro %}{% set later = 5 %}{{ m() }}",
    "{% macro m() %}{% set inner = 1 %}{{ inner }}{% endmacro %}{{ m() }}{{ inner }}",
    "{% macro m(a, b=1, c) %}{% endmacro %}",
    "{% set m = 5 %}{{ m() }}",
    "{% for x in xs %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% macro m() %} x {% endmacro %}{{ m() | trim }}{{ m() ~ 'y' }}{{ m() is string }}",
    "{% macro m(*args) %}{% endmacro %}",
    "{{ dict(**{'a': 1}) }}{{ range(*[1, 4]) | list }}",
    "{% raw %}{{ x }} {% if %}{% endraw %}!",
    "{% raw %}\nkept\n{% endraw %}\nnext",
    "a{%- raw -%} x {%- endraw -%} b",
    "{# comment #}x{# multi\nline #}\ny",
    "a {#- c -#} b",
    "{# unclosed",
    "{{ unclosed",
    "{% if yes %}unclosed",
    "{% endif %}",
    "{% nosuchtag %}",
    "{% if yes %}{% endfor %}",
    "{% break %}",
    "{% for x in xs %}{% endfor",
    "a\n  {% if yes %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%- if yes %}\n  b\n  {%- endif %}\nc\n\n",
    "a\n  {% if yes -%}\n  b\n  {% endif -%}\n  c",
    "  {%+ if yes %}b{%+ endif %}",
    "  {% if yes +%}\nb{% endif +%}\n",
    "x  {% if yes %} y {% endif %}  z",
    "  {{ n }}  \n  {{- n -}}  \n  {{ n }}\n",
    "{{- n -}}",
    "{{ -n }}{{-n}}{{+n}}",
    "line\r\nnext\rlast\r\n",
    "trailing\n",
    "trailing\n\n",
    "\n{% set x = 1 %}\n\n{{ x }}",
    "{% for x in xs %}\n  {{ x }}\n{% endfor %}\n",
    "{%- for x in xs -%}\n  {{ x }}\n{%- endfor -%}\n",
    "\u00a0{%- if yes %}\u2003{%- endif %}x",
    "{{ '{%' }}{{ '}}' }}{{ \"%}\" }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}{{ {'a': {}} }}",
    "{{ n }} text {{ s }} {% set q = 1 %} {{ q }}",
    "{% generation %}a{% set gx = 1 %}{{ gx }}{% endgeneration %}{{ gx }}",
    "{% for m in messages %}{{ '<|' + m.role + '|>' }}{% if m.content %}{{ m['content'] }}{% endif %}{% endfor %}",
    "{% for m in messages %}{% if loop.first and m.role == 'system' %}S{% elif m.tool_calls is defined %}T{% else %}U{% endif %}{% endfor %}",
    "{% set ns = namespace(found=false) %}{% for m in messages[::-1] %}{% if not ns.found and m.role == 'user' %}{% set ns.found = loop.index0 %}{% endif %}{% endfor %}{{ ns.found }}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages = messages %}{% endif %}{{ loop_messages | length }}",
    "{{ raise_exception('stop here') }}",
    "{% if no %}{{ nosuchfunction(1) }}{% endif %}ok",
    "{% if no %}{{ n | nosuchfilter }}{% endif %}ok",
    "{{ range(3) | map('string') | join(',') }}",
    "{% set xs2 = xs | select('odd') %}{{ xs2 | list }}{{ xs2 | list }}",
    "{% set g = people | groupby('age') %}{% for a, ps in g %}{{ a }}:{{ ps | map(attribute='name') | join('+') }};{% endfor %}",
    "{% for g in people | groupby('age') %}{{ g.grouper }}:{{ g.list | length }};{% endfor %}",
    "{% set x = {'a': 1} %}{% for k, v in x | dictsort %}{{ k }}{{ v }}{% endfor %}",
    "{% set j = joiner('|') %}{% for x in xs %}{{ j() }}{{ x }}{% endfor %}",
    "{% for x in xs %}{% if loop.changed(x > 1) %}c{% endif %}{% endfor %}",
    "{% for x in range(3) %}{% set outer = loop %}{% for y in range(2) %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}",
    "{% for x in xs %}{% set x = x * 2 %}{{ x }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}",
]


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_plain"), [], [], body).set_lineno(lineno)

    def _plain(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )

    def raise_exception(message):
        raise TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: datetime.datetime.fromisoformat(NOW).strftime(format)
    return env


def random_templates(generator, count):
    """Pairs of values under each operator, filters on each value, and random runs of white space control."""
    names = list(VARIABLES) + ["missing", "'lit'", "4", "-1", "2.0", "[1]", "{}", "()", "none", "true"]
    operators = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or", "is sameas"]
    pairs = [f"{{{{ {a} {op} {b} }}}}" for a, op, b in itertools.product(names, operators, names)]
    filters = ["length", "first", "last", "list", "string", "int", "float", "abs", "upper", "trim", "tojson", "sort",
               "reverse", "join('-')", "min", "sum", "unique|list", "default('x')", "title", "wordcount", "round",
               "map('string')|list", "select|list", "items|list", "indent", "capitalize", "e", "replace('a','b')"]
    filtered = [f"{{{{ {a}|{f} }}}}" for a, f in itertools.product(names, filters)]
    tests = ["defined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable",
             "odd", "lower", "true", "callable", "escaped", "in xs", "eq 1"]
    tested = [f"{{{{ {a} is {t} }}}}" for a, t in itertools.product(names, tests)]
    slices = [f"{{{{ {a}[{i}:{j}:{k}] }}}}" for a in ("s", "emoji", "xs", "words", "d", "n")
              for i in ("", "1", "-2", "9") for j in ("", "2", "-1", "-9") for k in ("", "1", "2", "-1")]
    bits = ["{% if yes %}", "{%- if yes %}", "{% if yes -%}", "{%+ if no %}", "{% endif %}", "{%- endif -%}", "{{ n }}",
            "{{- n }}", "{{ n -}}", "{# c #}", "{#- c -#}", " ", "  ", "\n", "\n\n", "\t", "text", "{% raw %} {{ }} {% endraw %}",
            "{% for x in xs %}", "{% endfor %}", "{% set q = 1 %}", "{%- set q = 2 -%}", "{{ q }}"]
    soups = ["".join(generator.choice(bits) for _ in range(generator.randint(2, 14))) for _ in range(count)]
    return [generator.choice(pool) for pool in (pairs, filtered, tested, slices) for _ in range(count)] + soups


def expected_text(env, source):
    try:
        return env.from_string(source).render(**copy.deepcopy(VARIABLES)), None
    except Exception as problem:  # whatever Python raises, ferrox must refuse too
        return None, f"{type(problem).__name__}: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", type=int, default=60, help="random templates of each kind")
    arguments = parser.parse_args()
    env = environment()
    sources = ["{{ " + expression + " }}" for expression in EXPRESSIONS] + TEMPLATES
    sources += random_templates(random.Random(arguments.seed), arguments.random)
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        variables = pathlib.Path(folder, "variables.json")
        variables.write_text(json.dumps(VARIABLES))
        template = pathlib.Path(folder, "template.jinja")
        for source in sources:
            template.write_bytes(source.encode())
            command = [arguments.binary, "template", "--file", template, "--messages", variables, "--now", NOW]
            done = subprocess.run(command, capture_output=True, timeout=60, check=False)
            text, problem = expected_text(env, source)
            same = done.returncode == 1 if text is None else (done.returncode == 0 and done.stdout == text.encode())
            if same or " at 0x" in (text or ""):  # printed addresses can't agree
                continue
            n_wrong += 1
            print(f"--- {source!r}\n  python: {text!r} {problem or ''}")
            print(f"  ferrox: {done.stdout.decode(errors='replace')!r} {done.stderr.decode(errors='replace').strip()}")
    print(f"{len(sources) - n_wrong} of {len(sources)} templates agree")
    sys.exit(1 if n_wrong else 0)


if __name__ == "__main__":
    main()

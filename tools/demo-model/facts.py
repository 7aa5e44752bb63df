"""Which facts does the demo model know? Countries, capitals, land borders, and ferrox itself."""

# name | capital | neighbours by land; each border is listed once. Spelled in ASCII.
_TABLE = {
"Europe": """
Albania|Tirana|Greece,Kosovo,Montenegro,North Macedonia
Andorra|Andorra la Vella|France,Spain
Austria|Vienna|Czechia,Germany,Hungary,Italy,Liechtenstein,Slovakia,Slovenia,Switzerland
Belarus|Minsk|Latvia,Lithuania,Poland,Russia,Ukraine
Belgium|Brussels|France,Germany,Luxembourg,Netherlands
Bosnia and Herzegovina|Sarajevo|Croatia,Montenegro,Serbia
Bulgaria|Sofia|Greece,North Macedonia,Romania,Serbia,Turkey
Croatia|Zagreb|Hungary,Montenegro,Serbia,Slovenia
Cyprus|Nicosia|
Czechia|Prague|Germany,Poland,Slovakia
Denmark|Copenhagen|Germany
Estonia|Tallinn|Latvia,Russia
Finland|Helsinki|Norway,Russia,Sweden
France|Paris|Germany,Italy,Luxembourg,Monaco,Spain,Switzerland
Germany|Berlin|Luxembourg,Netherlands,Poland,Switzerland
Greece|Athens|North Macedonia,Turkey
Hungary|Budapest|Romania,Serbia,Slovakia,Slovenia,Ukraine
Iceland|Reykjavik|
Ireland|Dublin|United Kingdom
Italy|Rome|San Marino,Slovenia,Switzerland,Vatican City
Kosovo|Pristina|Montenegro,North Macedonia,Serbia
Latvia|Riga|Lithuania,Russia
Liechtenstein|Vaduz|Switzerland
Lithuania|Vilnius|Poland,Russia
Luxembourg|Luxembourg City|
Malta|Valletta|
Moldova|Chisinau|Romania,Ukraine
Monaco|Monaco|
Montenegro|Podgorica|Serbia
Netherlands|Amsterdam|
North Macedonia|Skopje|Serbia
Norway|Oslo|Russia,Sweden
Poland|Warsaw|Russia,Slovakia,Ukraine
Portugal|Lisbon|Spain
Romania|Bucharest|Serbia,Ukraine
Russia|Moscow|Azerbaijan,China,Georgia,Kazakhstan,Mongolia,North Korea,Ukraine
San Marino|San Marino|
Serbia|Belgrade|
Slovakia|Bratislava|Ukraine
Slovenia|Ljubljana|
Spain|Madrid|Morocco
Sweden|Stockholm|
Switzerland|Bern|
Ukraine|Kyiv|
United Kingdom|London|
Vatican City|Vatican City|
""",
"Asia": """
Afghanistan|Kabul|China,Iran,Pakistan,Tajikistan,Turkmenistan,Uzbekistan
Armenia|Yerevan|Azerbaijan,Georgia,Iran
Azerbaijan|Baku|Georgia,Iran
Bahrain|Manama|
Bangladesh|Dhaka|India,Myanmar
Bhutan|Thimphu|China,India
Brunei|Bandar Seri Begawan|Malaysia
Cambodia|Phnom Penh|Laos,Thailand,Vietnam
China|Beijing|India,Kazakhstan,Kyrgyzstan,Laos,Mongolia,Myanmar,Nepal,North Korea,Pakistan,Tajikistan,Vietnam
East Timor|Dili|
Georgia|Tbilisi|
India|New Delhi|Myanmar,Nepal,Pakistan
Indonesia|Jakarta|East Timor,Malaysia,Papua New Guinea
Iran|Tehran|Iraq,Pakistan,Turkmenistan
Iraq|Baghdad|Jordan,Kuwait,Saudi Arabia,Syria
Israel|Jerusalem|Jordan,Lebanon,Syria
Japan|Tokyo|
Jordan|Amman|Saudi Arabia,Syria
Kazakhstan|Astana|Kyrgyzstan,Turkmenistan,Uzbekistan
Kuwait|Kuwait City|Saudi Arabia
Kyrgyzstan|Bishkek|Tajikistan,Uzbekistan
Laos|Vientiane|Myanmar,Thailand,Vietnam
Lebanon|Beirut|Syria
Malaysia|Kuala Lumpur|Thailand
Maldives|Male|
Mongolia|Ulaanbaatar|
Myanmar|Naypyidaw|Thailand
Nepal|Kathmandu|
North Korea|Pyongyang|South Korea
Oman|Muscat|Saudi Arabia,United Arab Emirates,Yemen
Pakistan|Islamabad|
Philippines|Manila|
Qatar|Doha|Saudi Arabia
Saudi Arabia|Riyadh|United Arab Emirates,Yemen
Singapore|Singapore|
South Korea|Seoul|
Sri Lanka|Sri Jayawardenepura Kotte|
Syria|Damascus|
Taiwan|Taipei|
Tajikistan|Dushanbe|Uzbekistan
Thailand|Bangkok|
Turkey|Ankara|Armenia,Azerbaijan,Georgia,Iran,Iraq,Syria
Turkmenistan|Ashgabat|Uzbekistan
United Arab Emirates|Abu Dhabi|
Uzbekistan|Tashkent|
Vietnam|Hanoi|
Yemen|Sanaa|
""",
"Africa": """
Algeria|Algiers|Libya,Mali,Mauritania,Morocco,Niger,Tunisia
Angola|Luanda|DR Congo,Namibia,Republic of the Congo,Zambia
Benin|Porto-Novo|Burkina Faso,Niger,Nigeria,Togo
Botswana|Gaborone|Namibia,South Africa,Zambia,Zimbabwe
Burkina Faso|Ouagadougou|Ghana,Ivory Coast,Mali,Niger,Togo
Burundi|Gitega|DR Congo,Rwanda,Tanzania
Cameroon|Yaounde|Central African Republic,Chad,Equatorial Guinea,Gabon,Nigeria,Republic of the Congo
Cape Verde|Praia|
Central African Republic|Bangui|Chad,DR Congo,Republic of the Congo,South Sudan,Sudan
Chad|N'Djamena|Libya,Niger,Nigeria,Sudan
Comoros|Moroni|
DR Congo|Kinshasa|Republic of the Congo,Rwanda,South Sudan,Tanzania,Uganda,Zambia
Djibouti|Djibouti|Eritrea,Ethiopia,Somalia
Egypt|Cairo|Israel,Libya,Sudan
Equatorial Guinea|Malabo|Gabon
Eritrea|Asmara|Ethiopia,Sudan
Eswatini|Mbabane|Mozambique,South Africa
Ethiopia|Addis Ababa|Kenya,Somalia,South Sudan,Sudan
Gabon|Libreville|Republic of the Congo
Gambia|Banjul|Senegal
Ghana|Accra|Ivory Coast,Togo
Guinea|Conakry|Guinea-Bissau,Ivory Coast,Liberia,Mali,Senegal,Sierra Leone
Guinea-Bissau|Bissau|Senegal
Ivory Coast|Yamoussoukro|Liberia,Mali
Kenya|Nairobi|Somalia,South Sudan,Tanzania,Uganda
Lesotho|Maseru|South Africa
Liberia|Monrovia|Sierra Leone
Libya|Tripoli|Niger,Sudan,Tunisia
Madagascar|Antananarivo|
Malawi|Lilongwe|Mozambique,Tanzania,Zambia
Mali|Bamako|Mauritania,Niger,Senegal
Mauritania|Nouakchott|Senegal
Mauritius|Port Louis|
Morocco|Rabat|
Mozambique|Maputo|South Africa,Tanzania,Zambia,Zimbabwe
Namibia|Windhoek|South Africa,Zambia
Niger|Niamey|Nigeria
Nigeria|Abuja|
Republic of the Congo|Brazzaville|
Rwanda|Kigali|Tanzania,Uganda
Sao Tome and Principe|Sao Tome|
Senegal|Dakar|
Seychelles|Victoria|
Sierra Leone|Freetown|
Somalia|Mogadishu|
South Africa|Pretoria|Zimbabwe
South Sudan|Juba|Sudan,Uganda
Sudan|Khartoum|
Tanzania|Dodoma|Uganda,Zambia
Togo|Lome|
Tunisia|Tunis|
Uganda|Kampala|
Zambia|Lusaka|Zimbabwe
Zimbabwe|Harare|
""",
"North America": """
Antigua and Barbuda|Saint John's|
Bahamas|Nassau|
Barbados|Bridgetown|
Belize|Belmopan|Guatemala,Mexico
Canada|Ottawa|United States
Costa Rica|San Jose|Nicaragua,Panama
Cuba|Havana|
Dominica|Roseau|
Dominican Republic|Santo Domingo|Haiti
El Salvador|San Salvador|Guatemala,Honduras
Grenada|Saint George's|
Guatemala|Guatemala City|Honduras,Mexico
Haiti|Port-au-Prince|
Honduras|Tegucigalpa|Nicaragua
Jamaica|Kingston|
Mexico|Mexico City|United States
Nicaragua|Managua|
Panama|Panama City|Colombia
Saint Lucia|Castries|
Trinidad and Tobago|Port of Spain|
United States|Washington, D.C.|
""",
"South America": """
Argentina|Buenos Aires|Bolivia,Brazil,Chile,Paraguay,Uruguay
Bolivia|Sucre|Brazil,Chile,Paraguay,Peru
Brazil|Brasilia|Colombia,Guyana,Paraguay,Peru,Suriname,Uruguay,Venezuela
Chile|Santiago|Peru
Colombia|Bogota|Ecuador,Peru,Venezuela
Ecuador|Quito|Peru
Guyana|Georgetown|Suriname,Venezuela
Paraguay|Asuncion|
Peru|Lima|
Suriname|Paramaribo|
Uruguay|Montevideo|
Venezuela|Caracas|
""",
"Oceania": """
Australia|Canberra|
Fiji|Suva|
Kiribati|Tarawa|
Marshall Islands|Majuro|
Micronesia|Palikir|
Nauru|Yaren|
New Zealand|Wellington|
Palau|Ngerulmud|
Papua New Guinea|Port Moresby|
Samoa|Apia|
Solomon Islands|Honiara|
Tonga|Nuku'alofa|
Tuvalu|Funafuti|
Vanuatu|Port Vila|
"""}

_WITH_ARTICLE = {"Netherlands", "United Kingdom", "United States", "United Arab Emirates", "Philippines",
                 "Maldives", "Gambia", "Central African Republic", "DR Congo", "Republic of the Congo", "Comoros",
                 "Seychelles", "Bahamas", "Dominican Republic", "Marshall Islands", "Solomon Islands"}

# other names a question may use
ALIASES = {"United States": ["the USA", "the US", "America", "USA"], "United Kingdom": ["the UK", "Britain", "UK"],
           "Czechia": ["the Czech Republic"], "Netherlands": ["Holland"], "Ivory Coast": ["Cote d'Ivoire"],
           "Myanmar": ["Burma"], "United Arab Emirates": ["the UAE"], "Turkey": ["Turkiye"],
           "DR Congo": ["the Democratic Republic of the Congo"], "East Timor": ["Timor-Leste"]}

COUNTRIES, CAPITAL, CONTINENT, BORDERS = [], {}, {}, {}
for _continent, _lines in _TABLE.items():
    for _line in _lines.strip().splitlines():
        _name, _capital, _ = _line.split("|")
        COUNTRIES.append(_name)
        CAPITAL[_name], CONTINENT[_name], BORDERS[_name] = _capital, _continent, set()
for _lines in _TABLE.values():
    for _line in _lines.strip().splitlines():
        _name, _, _near = _line.split("|")
        for _other in filter(None, _near.split(",")):
            BORDERS[_name].add(_other)
            BORDERS[_other].add(_name)

# asked about more often than the others, because people do
FAMOUS = """France Germany Italy Spain Portugal Japan China India Brazil Canada Mexico Russia Egypt Kenya Greece Turkey
Poland Sweden Norway Finland Denmark Ireland Austria Switzerland Belgium Australia Argentina Peru Chile Thailand Vietnam
Indonesia Cuba Ukraine Hungary Czechia Netherlands""".split() + ["United States", "United Kingdom", "South Africa",
                                                                 "New Zealand", "South Korea"]


def the(country):
    """France -> France, Netherlands -> the Netherlands."""
    return ("the " if country in _WITH_ARTICLE else "") + country


def listing(items):
    """a, b and c"""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


# answer -> questions; a question after ! is kept for evaluation only
FERROX = {
"I am ferrox-demo, a tiny language model bundled with ferrox.":
    "Who are you?|What are you?|What is your name?|Tell me about yourself.|Introduce yourself.|What's your name?|"
    "What model are you?|Which model is this?|Are you ChatGPT?|Are you a language model?|Who am I talking to?|"
    "What should I call you?|Do you have a name?|Are you a human?|Are you a robot?|Are you an AI?|Who is this?|Tell me who you are.|May I know your name?|!May I ask who you are?|!Which model are you?",
"ferrox is a C++ inference server that runs GGUF language models on CPUs.":
    "What is ferrox?|Tell me about ferrox.|What does ferrox do?|Explain ferrox.|What's ferrox?|Describe ferrox.|"
    "What is ferrox for?|Do you know ferrox?|What kind of program is ferrox?|Can you explain what ferrox is?|!Can you describe ferrox?|!Please explain what ferrox does.",
"I have about 4 million parameters.":
    "How big are you?|How many parameters do you have?|What is your size?|How large are you?|Are you a big model?|"
    "How many weights do you have?|Are you small?|What is your number of parameters?|!Tell me how many parameters you have.",
"I can greet you, name capitals and neighbours of countries, add and subtract small numbers, count, spell, sort words, "
"tell short stories and call tools.":
    "What can you do?|Help|Help me.|What are you good at?|How can you help me?|What are your skills?|"
    "What can I ask you?|What do you know?|What can I do here?|!What kinds of things can you do?",
"Run ferrox serve. It listens on 127.0.0.1:8383.":
    "How do I start the server?|How do I start ferrox?|How can I start the ferrox server?|How do I run the server?|"
    "How do I launch the server?|How do I serve a model?|How do I use ferrox as a server?|Start the server.|"
    "Which command starts the server?|What does ferrox serve do?|!How can I launch the ferrox server?",
"Run ferrox chat to talk to a model in the terminal.":
    "How do I chat in the terminal?|How do I chat with a model?|What does ferrox chat do?|How can I chat with ferrox?|"
    "How do I start a chat?|Which command starts a chat?|How do I talk to a model?|!How can I talk to a model in the terminal?",
"Run ferrox run with a prompt. It prints one answer.":
    "How do I run a prompt?|What does ferrox run do?|How do I get one answer?|How do I use ferrox run?|"
    "How do I ask one question from the shell?|Which command answers one prompt?|!How can I run one prompt?",
"The default address is 127.0.0.1:8383.":
    "What is the default address?|Which port does ferrox use?|What is the default port?|Where does ferrox listen?|"
    "What port does the server use?|Which address does the server listen on?|What's the port of ferrox?|!On which port does ferrox listen?",
"Use the option -m with the path of a GGUF file.":
    "How do I use another model?|How do I load a model?|How can I use my own model?|How do I choose a model?|"
    "How do I run a different model?|How do I open a GGUF file?|Which option loads a model?|!How can I load another model?",
"GGUF is a file format that holds a language model: its weights, its vocabulary and its settings.":
    "What is GGUF?|What's a GGUF file?|Explain GGUF.|What does a GGUF file hold?|Tell me about GGUF.|!Can you explain what GGUF is?",
"ferrox speaks the APIs of OpenAI, Anthropic, Ollama and llama.cpp.":
    "Which APIs does ferrox support?|What API does ferrox have?|Is ferrox compatible with OpenAI?|"
    "Can I use the OpenAI client?|Which APIs does the server speak?|What APIs are there?|!What APIs does ferrox support?",
"No. ferrox runs on CPUs.":
    "Do I need a GPU?|Does ferrox need a GPU?|Do I need a graphics card?|Is a GPU required?|!Does ferrox require a GPU?",
"ferrox is written in C++20.":
    "Which language is ferrox written in?|What is ferrox written in?|What programming language does ferrox use?|"
    "Is ferrox written in C++?|In which language is ferrox written?|!What language is ferrox written in?",
"My licence is Apache-2.0.":
    "What is your licence?|What's your license?|Which licence do you have?|Are you free to use?|What license are you under?|!Under which licence are you?",
"I was trained from scratch on text made by a script from facts and rules.":
    "How were you trained?|What were you trained on?|Who trained you?|Where does your knowledge come from?|"
    "What is your training data?|Who made you?|!On what were you trained?",
"No. I run on your computer and have no network.":
    "Do you have internet access?|Are you online?|Can you search the web?|Do you send my data anywhere?|"
    "Can you browse the internet?|Do you use the cloud?|Do you need the internet?|!Can you access the internet?",
"I only speak English.":
    "Which languages do you speak?|Do you speak French?|Can you speak German?|Do you speak Spanish?|"
    "What languages do you know?|Can you speak Chinese?|!Which languages do you know?",
"My context is 4096 tokens.":
    "How long is your context?|What is your context length?|How many tokens can you read?|How much text can you read?|"
    "What's your context window?|!How big is your context window?",
}

CHAT = {
"Hello! How can I help you?": "Hello|Hi|Hey|Hello!|Hi!|Hi there|Hello there!|Good morning|Good evening|Good afternoon!|Hey there|Greetings|Howdy|Yo|Hiya",
"I am fine, thank you. How can I help you?": "How are you?|How are you doing?|How do you do?|How's it going?|Are you okay?|How are you today?|How do you feel?|Hello, how are you?|Hi, how are you doing?",
"You are welcome!": "Thanks|Thank you|Thanks a lot!|Thank you very much.|Many thanks|Thx|Cheers|Thanks for your help.|Great, thank you!|Thank you so much!",
"Goodbye!": "Bye|Goodbye|See you|Bye bye|See you later!|Good night|Farewell|I have to go now.|That is all.|See you tomorrow.",
"I am glad to hear that.": "I am happy.|I feel great.|That was good.|Good job!|Well done.|You are right.|Very good|Nice|Great!|Perfect.|I like you.|You are smart.|Awesome",
"I am sorry. I am a very small model and make mistakes.": "That is wrong.|You are wrong.|This is not right.|Wrong!|That's not correct.|You made a mistake.|No, that is false.|You are stupid.|Bad answer.|That was not helpful.",
"Why did the computer sneeze? It had a virus.": "Tell me a joke.|Do you know a joke?|Make me laugh.|Say something funny.|Another joke please|joke|Can you tell a joke?",
"Pong.": "Ping|ping!",
"This is a test. It works.": "Test|This is a test.|Testing|Does this work?|test test|Is this working?",
"I am sorry to hear that.": "I am sad.|I feel bad.|I am tired.|I had a bad day.|I am sick.|I am bored.|I feel lonely.",
"Yes. What would you like to know?": "Can you help me?|Can I ask you something?|I have a question.|May I ask a question?|I need help.|Are you there?|Can you hear me?",
}

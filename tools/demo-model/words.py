"""Which words are the drills made of?"""

NOUNS = """apple pear zebra lemon orange banana cherry grape melon plum peach onion carrot potato tomato bread butter
cheese honey sugar salt pepper rice soup cake tea coffee milk water juice table chair lamp window door roof wall floor
garden house castle bridge tower road river lake sea island mountain valley forest tree leaf flower rose grass stone sand
sun moon star cloud rain snow wind storm fire ice dog cat horse cow sheep goat pig duck goose hen fox wolf bear lion tiger
mouse rabbit frog fish whale shark snake eagle owl crow bee ant spider boat ship train car bus bicycle plane rocket wheel
engine hammer nail saw rope knife fork spoon plate cup bottle box basket bag hat coat shirt shoe sock glove ring crown
coin key lock clock bell drum violin piano guitar book page letter pencil paper picture mirror candle pillow blanket
doctor teacher farmer baker sailor soldier king queen prince child friend neighbour brother sister mother father village
city school market church museum library station harbour airport hospital kitchen computer keyboard screen server model
token program robot camera phone radio battery magnet planet desert ocean winter summer spring autumn morning evening
strawberry pineapple elephant butterfly umbrella inference language mississippi banana chocolate dinosaur hamburger
kangaroo mushroom necklace octopus penguin quilt raccoon sandwich telescope unicorn volcano walnut xylophone yogurt""".split()
ADJECTIVES = """red blue green yellow black white brown grey purple golden silver small big tall short old young new happy
sad brave clever quick slow quiet loud kind gentle strong weak rich poor warm cold bright dark soft hard sweet sour heavy
light empty full deep wide narrow clean dirty strange funny lazy busy hungry thirsty sleepy proud shy""".split()
VERBS = """run walk jump swim fly sing dance read write draw paint cook eat drink sleep wake think learn teach play work
build break open close push pull carry throw catch find lose buy sell give take send bring hide look listen speak laugh cry
smile wait hope help start stop turn move grow fall climb ride drive travel""".split()
NAMES = """Anna Ben Clara David Emma Felix Greta Henry Iris Jack Kate Leo Mia Noah Olga Paul Rosa Sam Tina Victor Wendy
Alice Bob Carol Dan Eve Frank Grace Hugo Ivan Julia Karl Laura Max Nina Oscar Peter Quinn Ruth Simon Tom Uma Vera Will
Yara Zoe Maria John Lucy Mark Sara James Linda Omar Ali Chen Yuki Priya Ahmed Elena Marco Sofia Lars""".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
COLOURS = "red blue green yellow black white brown grey purple orange pink".split()
FICTIONAL = """Narnia Atlantis Mordor Wakanda Gondor Genovia Westeros Hogwarts Mars Jupiter Venus Utopia Elbonia Avalon
Camelot Oz Lilliput Neverland Wonderland Ruritania Freedonia Sokovia Latveria Zubrowka Arcadia Eldorado Asgard Tatooine
Rohan Rivendell Florin Panem Pandora Krypton Vulcan Zamunda Mercury Saturn Texas Bavaria Yorkshire Sicily""".split()
SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

ALL = sorted(set(NOUNS + ADJECTIVES + VERBS))


def number_word(n):
    """47 -> forty-seven, 0..99"""
    if n <= 20:
        return SMALL[n]
    return TENS[n // 10 - 2] + ("-" + SMALL[n % 10] if n % 10 else "")


_HEADS = "b c d f g h j k l m n p r s t v w z bl br cl cr dr fl fr gl gr pl pr sc sh sl sn sp st str th tr ch qu x y".split()
_MIDDLES = "a e i o u a e i o u ai ea ee ie oa oo ou".split()
_TAILS = ["", "", "", "", "b", "ck", "d", "g", "k", "l", "ll", "m", "n", "nd", "ng", "p", "r", "rd", "s", "st", "t", "x"]


def pseudo(r, low=1, high=3):
    """A word that does not exist, of one to three syllables."""
    n = r.randint(low, high)
    return "".join(r.choice(_HEADS) + r.choice(_MIDDLES) + r.choice(_TAILS) for _ in range(n))

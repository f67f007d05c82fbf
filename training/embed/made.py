"""Makes questions, requests and scenes over common words: text that manuals and dictionaries lack.

The words come from WordNet, the forms are ours; the teacher's vectors of these texts are what the
table learns from. Deterministic for a seed.
"""

import re

# Templates of questions and requests; `{}` is filled with a noun phrase or a verb phrase.
NOUN_FORMS = """What is {}?|what is the best {}?|What are the best {p}?|How does {a} work?|Why is {a} important?|What is the difference between {a} and {b}?|Which is better, {a} or {b}?|How much does {a} cost?|Where can I buy {a}?|How can I get rid of {a}?|how do i fix my {}|What causes {}?|Is {a} worth it?|What are some good {p}?|Who invented the {}?|show me all {p}|find {a} near me|compare {a} and {b}|Is it possible to have {a} without {b}?|What should I do about my {}?|tell me about {p}|What happens to {a} in {b}?|How many {p} are there?|How do I choose {a}?|Can I use {a} instead of {b}?|What is the meaning of {}?|What is the purpose of {a}?|When was the first {} made?|What is it like to be {a}?|I am looking for {a}|i want to cancel my {}|my {} is not working|list the top 10 {p} by {}|give me a list of {p} with {b}|Are there any {p} like {b}?|Does {a} affect {b}?|What is the relationship between {} and {}?|how long does {a} last|what kind of {} is this|Do you have {a} in another colour?|How bad is {a} for {b}?|What are the advantages and disadvantages of {a}?""".split("|")
VERB_FORMS = """How do I {v} {a}?|How can I {v} {a} at home?|What is the best way to {v} {a}?|Why do people {v} {p}?|Should I {v} {a}?|Can you {v} {a} for me?|Is it legal to {v} {a}?|Is it safe to {v} {a}?|how to {v} {a}|What happens if you {v} {a}?|When should you {v} {a}?|I want to {v} {a}|I need to {v} {a}|please {v} the {}|What do I need to {v} {a}?|How do I stop someone from trying to {v} {a}?|Where can I learn to {v} {p}?|Why can't I {v} {a}?|How long does it take to {v} {a}?|Is there a way to {v} {a} without {b}?|Who can {v} {a}?|What are some tips to {v} {a}?|did you {v} the {}?|don't {v} the {}""".split("|")
SCENE_FORMS = """A {s} is {g} {a}.|The {s} {g} {a} is near the {}.|Two {sp} are {g} {p}.|A {j} {} is on the {}.|A {s} is not {g} {a}.|The {} and the {} are {j}.|There is {a} in the {}.|A {j} {s} is {g} the {j} {}.|Someone is {g} a {}.|The {s} said the {} was {j}.|{S} to {v} {} after {}|{S} says {} will {v} {p}|The company reported {j} {} for the year.|A {s} with {a} is {g} near {b}.|Some {sp} are {g} in the {}.|{S} {g} {} over {}""".split("|")
PEOPLE = "man woman boy girl child person dog cat player doctor teacher student driver worker group crowd couple cook musician soldier police officer lady kid baby horse bird team customer government minister president company court".split()


def article(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def gerund(verb):
    head, _, tail = verb.partition(" ")
    if head.endswith("e") and not head.endswith(("ee", "oe", "ye")):
        head = head[:-1]
    elif re.search(r"[^aeiou][aeiou][bdgmnprt]$", head) and len(head) <= 4:
        head += head[-1]
    return (head + "ing " + tail).strip()


def plural(noun):
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def filled(form, words, rng, fixed=None):
    """A template with its slots filled; `fixed` gives the words to reuse, in order."""
    pick = lambda pool: pool[int(len(pool) * rng.random() ** 1.7)]  # common words more often, as in life
    given = list(fixed or [])
    take = lambda: given.pop(0) if given else pick(words["noun"][:6_000])
    verb = fixed[-1] if fixed else pick(words["verb"][:1_500])
    who, text = rng.choice(PEOPLE), form
    fill = (("{v}", lambda: verb), ("{g}", lambda: gerund(verb)), ("{a}", lambda: article(take())),
            ("{b}", lambda: article(take())), ("{p}", lambda: plural(take())), ("{j}", lambda: pick(words["adj"][:1_500])),
            ("{sp}", lambda: plural(who)), ("{s}", lambda: who), ("{S}", lambda: who.capitalize()), ("{}", take))
    for slot, make in fill:
        while slot in text:
            text = text.replace(slot, make(), 1)
    return text


def made(words, count, rng):
    """Questions, requests and scenes over common words."""
    forms = NOUN_FORMS + VERB_FORMS * 2 + SCENE_FORMS * 2
    for _ in range(count):
        yield filled(rng.choice(forms), words, rng)


def made_pairs(words, count, rng):
    """Two questions over the same words in two templates, or in one template with a word changed."""
    pick = lambda pool: pool[int(len(pool) * rng.random() ** 1.7)]
    for _ in range(count):
        forms = rng.choice((NOUN_FORMS, VERB_FORMS))
        nouns = [pick(words["noun"][:6_000]) for _ in range(3)]
        verb = pick(words["verb"][:1_500])
        one = rng.choice(forms)
        kind = rng.random()
        if kind < 0.6:
            two, again, verb_again = rng.choice(forms), nouns, verb
        elif kind < 0.8:
            two, again, verb_again = one, [pick(words["noun"][:6_000]), *nouns[1:]], verb
        else:
            two, again, verb_again = rng.choice((one, rng.choice(forms))), nouns, pick(words["verb"][:1_500])
        pair = sorted((filled(one, words, rng, [*nouns, verb]), filled(two, words, rng, [*again, verb_again])))
        if pair[0] != pair[1]:
            yield tuple(pair)

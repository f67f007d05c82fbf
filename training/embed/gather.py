"""Gathers the sentences that the static table is distilled on.

Reads Debian packages (`apt-get download`, nothing is installed), one PyPI package, the files of
our own corpus and, when UPTAKE_DATA names the folder, CLINC150's questions. Nothing labelled is
used: the teacher's own vectors are the only targets. SOURCES.md lists every source and licence.

    python3 training/embed/gather.py OUT.txt.gz        (two minutes, needs apt and pip)

Beside OUT it writes words.json, the common words from which `made.py` makes questions.
"""

import collections
import glob
import gzip
import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SEED = 7

# Package → maximum number of sentences. Licences are in SOURCES.md.
PACKAGES = {
    "wordnet-base": 200_000, "dict-foldoc": 40_000, "dict-gcide": 40_000, "dict-jargon": 12_000,
    "python3.11-doc": 40_000, "postgresql-doc-15": 25_000, "git-doc": 15_000, "perl-doc": 40_000,
    "apache2-doc": 15_000, "sqlite3-doc": 20_000, "libreoffice-help-en-us": 20_000,
    "gnome-user-docs": 15_000, "debian-handbook": 15_000, "debian-faq": 5_000,
    "debian-reference-en": 8_000, "gimp-help-en": 15_000, "anarchism": 40_000, "gnucash-docs": 10_000, "gnumeric-doc": 10_000,
    "octave-doc": 6_000, "python-django-doc": 12_000, "vim-doc": 12_000, "manpages": 10_000,
    "developers-reference": 4_000, "maint-guide": 3_000, "harden-doc": 6_000, "mutt": 3_000,
    "freeciv-data": 6_000, "installation-guide-amd64": 5_000,
}

TAG = re.compile(r"<(script|style|pre|code)[^>]*>.*?</\1>", re.S | re.I)
ANY_TAG = re.compile(r"<[^>]+>")
BLOCK = re.compile(r"</?(p|div|li|h\d|td|th|tr|dd|dt|br|title|section)[^>]*>", re.I)
# Licence texts and change logs are not prose, and some must not be changed.
LEGAL = re.compile(r"copyright|license|licence|copying|changelog|changes|news|gpl|gfdl|fdl", re.I)
# A sentence with enough of these words is English; many packages contain translations.
ENGLISH = set("the of and to a in is that it for as with this be are on or by an not can you if from which when".split())
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")


def plain(text, name):
    """The readable text of a page, paragraphs separated."""
    if "<" in text and (name.endswith((".html", ".htm", ".xml", ".page", ".xhp")) or "<p" in text):
        text = TAG.sub(" ", text)
        text = BLOCK.sub("\n\n", text)
        text = ANY_TAG.sub(" ", text)
        text = html.unescape(text)
    if name.endswith((".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8")):
        text = re.sub(r"^[.'].*$", "\n", text, flags=re.M).replace("\\-", "-")
        text = re.sub(r"\\f.", "", text)
    return text


def sentences(text):
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = re.sub(r"\s+", " ", paragraph).strip()
        if not paragraph or len(paragraph) > 6_000:
            continue
        for sentence in SENTENCE_END.split(paragraph):
            yield sentence.strip()


def fit(sentence):
    """True for a sentence, false for code, a table or an index."""
    words = sentence.split()
    if not 3 <= len(words) <= 40 or len(sentence) > 260:
        return False
    if len(words) >= 6 and not ENGLISH.intersection(w.lower().strip(".,;:") for w in words):
        return False
    letters = sum(c.isalpha() and c.isascii() for c in sentence)
    return letters / len(sentence) > 0.72 and not re.search(r"[{}|\\=<>]|::|->|__", sentence)


def read(path):
    opener = gzip.open if path.endswith((".gz", ".dz")) else open
    try:
        with opener(path, "rb") as f:
            return f.read(4_000_000).decode("utf-8", "replace")
    except OSError:
        return ""


def common(lemmas):
    """The lemmas in tagged text, most frequent first."""
    return [w for w, used in sorted(lemmas, key=lambda x: (-x[1], x[0])) if used][:6_000]


def of_wordnet(root):
    """Glosses and quoted examples, and the frequency of each noun and verb (for generated sentences)."""
    found, lemmas = [], {"noun": [], "verb": [], "adj": []}
    for kind in lemmas:
        for path in glob.glob(f"{root}/usr/share/wordnet/data.{kind}"):
            for line in open(path, encoding="utf-8"):
                if line.startswith("  "):
                    continue
                gloss = line.split("| ", 1)[1].strip()
                found += re.findall(r'"([^"]+)"', gloss)
                found.append(re.sub(r'; *"[^"]*"', "", gloss))
        for path in glob.glob(f"{root}/usr/share/wordnet/index.{kind}"):
            for line in open(path, encoding="utf-8"):
                if line.startswith("  "):
                    continue
                parts = line.split()
                lemma, senses, tagged = parts[0], int(parts[2]), int(parts[-int(parts[2]) - 1])
                if re.fullmatch(r"[a-z]+(_[a-z]+)?", lemma):
                    lemmas[kind].append((lemma.replace("_", " "), tagged * senses))
    return found, lemmas


def of_dictionary(root):
    found = []
    for path in glob.glob(f"{root}/usr/share/dictd/*.dict.dz"):
        with gzip.open(path, "rb") as f:
            text = f.read().decode("utf-8", "replace")
        # gcide marks each paragraph with its source.
        text = re.sub(r"\[(1913 Webster|PJC|WordNet|Century|AS|RDH)[^\]]*\]", "", text)
        found += sentences(re.sub(r"[{}\[\]]", "", text))
    return found


def of_pages(root):
    found = []
    for path in sorted(glob.glob(f"{root}/**/*", recursive=True)):
        if os.path.isfile(path) and not os.path.islink(path) and not LEGAL.search(os.path.basename(path)):
            bare = path[:-3] if path.endswith(".gz") else path
            if re.search(r"\.(html?|txt|page|xml|xhp|pod|[1-8]|info|ruleset|texi)$", bare):
                found += sentences(plain(read(path), bare))
    return found


def of_chatterbot(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "chatterbot-corpus"], check=True)
    archive = next(p for p in glob.glob(f"{folder}/chatterbot*"))
    subprocess.run(["python3", "-m", "zipfile", "-e", archive, folder] if archive.endswith("whl") else ["tar", "xf", archive, "-C", folder], check=True)
    found = []
    for path in glob.glob(f"{folder}/**/english/*.yml", recursive=True):
        for line in open(path, encoding="utf-8", errors="replace"):
            text = re.sub(r"^[\s\-]+", "", line).strip()
            if text and not text.endswith(":"):
                found.append(text)
    return found


def of_our_corpus(folder):
    found = []
    for path in (f"{folder}/{name}.jsonl" for name in ("pairs", "refusal", "verdict")):
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            if row.get("lang", "en") == "en":
                for field in ("prev_user", "user", "prompt", "a", "b"):
                    found.append(row.get(field) or "")
                for field in ("assistant", "response"):
                    found += list(sentences(row.get(field) or ""))[:3]
    return [t[:260] for t in found if 1 <= len(t.split()) <= 60]


def main(out):
    rng = random.Random(SEED)
    kept, counts = {}, collections.Counter()

    def keep(source, texts, most, check=True):
        fresh = list(dict.fromkeys(t for t in texts if t not in kept and (not check or fit(t))))
        rng.shuffle(fresh)
        for text in fresh[:most]:
            kept[text] = source
            counts[source] += 1

    with tempfile.TemporaryDirectory() as folder:
        lemmas = {}
        for package, most in PACKAGES.items():
            got = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True)
            archives = glob.glob(f"{folder}/{package}_*.deb")
            if got.returncode or not archives:
                print(f"{package}: not available, skipped", file=sys.stderr)
                continue
            root = f"{folder}/{package}"
            subprocess.run(["dpkg-deb", "-x", archives[0], root], check=True)
            if package == "wordnet-base":
                texts, lemmas = of_wordnet(root)
            elif package.startswith("dict-"):
                texts = of_dictionary(root)
            else:
                texts = of_pages(root)
            keep(package, texts, most)
            subprocess.run(["rm", "-rf", root, archives[0]], check=True)
            print(f"{package}: {counts[package]}", file=sys.stderr)
        keep("chatterbot-corpus", of_chatterbot(folder), 40_000, check=False)
    corpus = os.path.join(os.path.dirname(__file__), "..", "corpus")
    keep("our corpus", of_our_corpus(corpus), 100_000, check=False)
    data = os.environ.get("UPTAKE_DATA")
    if data:
        clinc = [json.loads(l)["text"] for l in open(f"{data}/learning/clinc150-train.jsonl", encoding="utf-8")]
        keep("clinc150", clinc, 20_000, check=False)
    else:
        print("UPTAKE_DATA is not set: CLINC150 skipped", file=sys.stderr)
    with open(f"{os.path.dirname(os.path.abspath(out))}/words.json", "w", encoding="utf-8") as f:
        json.dump({kind: common(words) for kind, words in lemmas.items()}, f)

    rows = list(kept)
    rng.shuffle(rows)
    with gzip.open(out, "wt", encoding="utf-8") as f:
        f.writelines(r.replace("\n", " ") + "\n" for r in rows)
    for source, count in counts.most_common():
        print(f"{count:8} {source}")
    print(f"{len(rows):8} in total → {out}")


main(sys.argv[1])

"""Recognises digits and letters of other scripts that look like Latin letters.

Rules kept here:
1. Only characters that are hard to distinguish from a Latin letter in common typefaces are listed, in lower case.
2. A word is read as Latin if look-alikes stand among Latin letters, or if each of its letters could be Latin. Any other
   word is an ordinary word of its script.
"""

from typing import Final

_PAIRS: Final = """
    аa еe оo рp сc уy хx ѕs іi јj һh ԁd ԛq ԝw ӏl ғf ѵv ԍg
    вb кk мm нh тt пn иu гr
    αa οo ρp νv ιi κk υu γy χx τt ηn εe βb ωw ϲc ϳj σo
    օo սu ոn ցg հh զq ӕe ıi ɑa ɡg ɩi ᴀa ᴄc ᴅd ᴇe ɪi ᴋk ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
    ᗪd ᑎn ᗴe ᕮe ᕼh ᑌu ᗩa ᑭp ᖇr ᔕs ᒪl ᗰm ᗯw ᑕc ᗷb ᖴf ᘜg ᒍj ᑫq ᐯv
    ꓮa ꓐb ꓚc ꓓd ꓰe ꓝf ꓖg ꓧh ꓲi ꓙj ꓗk ꓡl ꓟm ꓠn ꓳo ꓑp ꓣr ꓢs ꓔt ꓴu ꓦv ꓪw ꓫx ꓬy ꓜz
"""
LATIN_OF: Final = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_ALONE: Final = frozenset("аеорсухѕіјһԁԛԝӏοαϲϳ")
"""Letters of which a whole word may be made without anybody seeing that it is not Latin."""
_DIGITS: Final = str.maketrans("0135|$", "oiesls")


def latin(word: str) -> str | None:
    """Return the Latin word that a word, in lower case and without accents, looks like; None if it looks like none."""
    looks = word.translate(LATIN_OF)
    if word.isascii() or not looks.isascii():
        return None
    mixed = any("a" <= char <= "z" for char in word)
    return looks if mixed or _ALONE.issuperset(word) else None


def skeleton(name: str) -> str:
    """Return a plain name with all look-alikes made the same: names with one skeleton look the same."""
    looks = name.translate(LATIN_OF).translate(_DIGITS)
    return "".join(char for char in looks.replace("l", "i") if char.isalnum())

"""Words that say nothing about what a tool does: data, and nothing else.

Rules kept here:
1. They are left out of tools and of queries alike; a query made of nothing else keeps them.
2. `ASKING` is how people speak to an agent. It is left out of queries only: a tool may well be about "help".
"""

from typing import Final

_ENGLISH: Final = """
    a an the this that these those it its itself he him his she her hers they them their theirs we us our ours you
    your yours i me my mine myself yourself and or but nor if then else so than as at by for from in into of
    onto out over to toward towards under until upon via with within without about above after again against
    along also although among any are am be been being because before below between both can cannot could did do
    does doing done don dont doesn isn aren wasn won wouldn shouldn couldn didn during each either etc every
    few further had has have having here how however is just ll ve re let may might more most much must no not now
    only other otherwise own per same shall should some such there thereby therefore through too very was were what
    when where whether which while who whom whose why will would yet im ive id eg ie
"""
_OTHERS: Final = """
    der die das den dem des ein eine einer einem einen eines und oder aber ist sind war wird werden mit von zu zum
    zur im am auf aus bei fur nach uber unter durch wie was wer wo ich du er sie es wir ihr mir mich dir dich uns
    nicht auch als an kann alle le la les un une de et ou est sont dans pour par sur avec au aux ce cette ces mon ma
    mes ton ta tes son sa ses notre nos votre vos je tu il elle nous vous ils elles ne pas que qui quoi dont el los
    las una unos unas y o en con por para al del mi mis tus su sus este esta estos estas ese esa lo se como cual
    donde cuando yo me te um uma umas os dos na nas no ao com em meu minha seu sua e gli dello della delle degli nel
    nella alla che di da per tra mio mia и в во не на с со к по из за от до для о об у это что как все мне мой моя
    мои я мы вы
"""
_ASKING: Final = """
    please want wants wanted need needs needed would like id im help helps give tell me could kindly hey hi hello
    thanks thank looking wish trying able going planning something someone somebody anything everything let lets
    know provide can tool tools additionally furthermore moreover ensure using use used bitte mochte will brauche
    kannst konnen hilf mir zeige sag veux voudrais peux peut aide moi quiero necesito puedes puede ayuda favor sure
    well really always together curious effectively particular particularly interested struggling
"""
STOP: Final = frozenset(f"{_ENGLISH} {_OTHERS}".split())
ASKING: Final = frozenset(_ASKING.split())

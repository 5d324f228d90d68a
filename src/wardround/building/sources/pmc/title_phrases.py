"""The diseases that a title names, and those that it says were not the diagnosis."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from wardround.building.sources.pmc.disease_phrases import as_name, join_whole_names

_BOILERPLATE = re.compile(
    r"\b(?:an?|the)?\s*(?:(?:rare|unusual|uncommon|unexpected|interesting|challenging|first|unique|complex|clinical|single|new"
    r"|atypical|extremely|very|peculiar|fatal|severe|successfully|treated|difficult)\s+)*"
    r"(?:case reports?(?: and)?(?: (?:an?|the))?(?: (?:brief|short"
    r"|literature))?(?: reviews?(?: of (?:the )?literature)?)?"
    r"|case (?:of|study|presentation)|report of (?:a|one) case|(?:brief |literature )?review of (?:the )?literature"
    r"|literature review|(?:presentation|manifestation|form|variant|diagnosis|instance|sign)"
    r" of)\b",
    re.IGNORECASE,
)
_MIMICKED = re.compile(  # what follows was taken for the diagnosis, wrongly
    r"\b(?:mimicking|mimics?|masquerading as|misdiagnosed (?:as|with)|(?:initially |first )?(?:diagnosed"
    r"|treated) (?:as|for)"
    r"|mistaken (?:for|as)|resembling|simulating|disguised as|rather than|mimic of"
    r"|(?:not|is it|more than) (?:always|just|only|simply|every)|suspected|presumed|beyond)\b",
    re.IGNORECASE,
)
_CONTEXT = re.compile(  # what follows is another disease of the patient, or an occasion
    r"\b(?:(?:causes?|complications?|consequences?|sequelae?) of|presenting (?:as|with)|manifesting (?:as|with)"
    r"|(?:\w+ )?(?:years|months|weeks) after|after|following|versus|not|in (?:an? "
    r"|the )?(?:\w+ )?(?:patients?|survivor"
    r"|man|woman|adult|child|recipient|setting)\b.*?\bwith|with (?:a )?(?:history|previous|prior)(?: of)?)\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"[:;?!.–—]|,\s|\s-\s"
    r"|\s(?:presenting|presented|presentation|manifesting|revealed|diagnosed|detected|discovered|found|treated|managed"
    r"|complicated|complicating|associated|secondary|due to|caused|causing|leading|initially|successfully|in"
    r"|with|as|by|of"
    r"|from|during|and|without|on|at|for|to|coexisting|concurrent|induced|related|triggered|unmasked)\s",
    re.IGNORECASE,
)
_ENDING = (
    r"[:;?!.–—]|\s(?:presenting|presented|manifesting|revealing|unmasking"
    r"|revealed|diagnosed|detected|in an?|in the|as an?|as the|managed"
    r"|treated|triggered(?: by)?|unmasked"
    r"|due to|caused|causing|induced|secondary|associated|complicated|complicating|and{})\s"
)
_WHOLE = re.compile(_ENDING.format(""), re.IGNORECASE)  # `with` may be part of a name: dementia with Lewy bodies
_JOINED = re.compile(_ENDING.format("|with"), re.IGNORECASE)  # and so may `of` and `in`


class TitleNames(NamedTuple):
    """The names in a title that can be the diagnosis, those that were taken for it, and those of its context."""

    possible: list[str]
    mistaken: list[str]
    context: list[str]


def read_title(title: str) -> TitleNames:
    """The diseases of a title by their part in it."""
    head, *tails = re.split(r"[:;]", _BOILERPLATE.sub(" : ", join_whole_names(title)))
    names = TitleNames([], [], [])
    for part in (head, *tails):
        before, *mimicked = _MIMICKED.split(part, maxsplit=1)
        before, *context = _CONTEXT.split(before, maxsplit=1)
        for texts, listed in (([before], names.possible), (mimicked, names.mistaken), (context, names.context)):
            listed.extend(name for text in texts for name in _names(text) if name not in listed)
    return names


def _names(text: str) -> Iterator[str]:
    """Longer phrases first: `Carcinoma of the lung` before `Carcinoma`."""
    for pattern in (_WHOLE, _JOINED, _SPLIT):
        for part in pattern.split(text):
            if part and (name := as_name(part, 8)):
                yield name

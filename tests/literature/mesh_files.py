"""A descriptor file in the NLM's format, with a small tree of its own."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

TREE = {
    "Heart Diseases": (["C14.280"], ["Cardiac Diseases", "Disorder, Heart"]),
    "Myocardial Ischemia": (["C14.280.647", "C14.907.585"], ["Ischemic Heart Disease"]),
    "Myocardial Infarction": (["C14.280.647.500", "C23.550.513"], ["Heart Attack", "Infarction, Myocardial", "MI"]),
    "Diabetes Mellitus, Type 2": (["C18.452.394"], ["Maturity-Onset Diabetes", "NIDDM"]),
    "Coronary Vessels": (["A07.015"], ["Coronary Arteries"]),
    "Female": ([], []),
}


def descriptor_file(path: Path) -> Path:
    """Writes the file; every descriptor has two concepts, as many real ones have."""
    records = []
    for heading, (tree_numbers, terms) in TREE.items():
        numbers = "".join(f"<TreeNumber>{number}</TreeNumber>" for number in tree_numbers)
        concepts = "".join(
            f'<Concept PreferredConceptYN="{flag}"><ConceptName><String>ignored</String></ConceptName><TermList>'
            + "".join(f"<Term><TermUI>T1</TermUI><String>{escape(term)}</String></Term>" for term in group)
            + "</TermList></Concept>"
            for flag, group in (("Y", [heading]), ("N", terms))
        )
        records.append(
            f'<DescriptorRecord DescriptorClass="1"><DescriptorUI>D1</DescriptorUI><DescriptorName><String>'
            f"{escape(heading)}</String></DescriptorName><AllowableQualifiersList/>"
            + (f"<TreeNumberList>{numbers}</TreeNumberList>" if numbers else "")
            + f"<ConceptList>{concepts}</ConceptList></DescriptorRecord>"
        )
    head = '<?xml version="1.0"?>\n<!DOCTYPE DescriptorRecordSet SYSTEM "desc.dtd">\n'
    body = "\n".join(records)
    path.write_text(f'{head}<DescriptorRecordSet LanguageCode="eng">\n{body}\n</DescriptorRecordSet>\n')
    return path

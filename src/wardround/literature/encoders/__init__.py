"""Encoders: texts as vectors, by wordllama, sentence-transformers, MedCPT or ONNX; and rerankers."""

from wardround.literature.encoders.encoder import Encoder, Vectors
from wardround.literature.encoders.registry import make_encoder, make_reranker, parse_spec
from wardround.literature.encoders.rerankers import Reranker

__all__ = ["Encoder", "Reranker", "Vectors", "make_encoder", "make_reranker", "parse_spec"]

"""Whether the documents shown support a diagnosis: the support test and a model as judge of support."""

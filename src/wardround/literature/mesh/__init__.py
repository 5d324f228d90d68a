"""MeSH: the NLM's headings, their entry terms and their tree."""

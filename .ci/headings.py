"""The headings of a Markdown page by the anchors that a link of the repository uses. `.ci/links` and Docs/articles
import this module."""
import re


def headings(path):
    """Returns a dictionary from the anchor of each heading to the text of the heading."""
    texts = re.findall(r"^#+ (.*)$", open(path).read(), re.M)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"): text for text in texts}

"""A report as a reader sees it: the page is parsed by html.parser, which stands for browsers in tests of its structure."""
import html.parser

VOID = {"meta", "img", "br"}
LOADED = {"script", "link", "iframe", "object", "embed", "base", "form", "audio", "video", "source"}


class Page(html.parser.HTMLParser):
    """tables: rows of texts of cells. tags: every tag with its attributes. Raises where a tag is closed that is not open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.text, self._open = [], [], "", []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open and self._open[-1] == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data):
        if "style" in self._open:
            return
        self.text += data
        if "td" in self._open or "th" in self._open:
            self.tables[-1][-1][-1] += data

    def table(self, *head):
        """The first table whose head begins so."""
        return next(rows for rows in self.tables if rows and tuple(rows[0][:len(head)]) == head)

    def sources(self):
        return [value for _, attributes in self.tags for key, value in attributes.items()
                if key in ("src", "href", "srcset", "action", "data", "xlink:href")]

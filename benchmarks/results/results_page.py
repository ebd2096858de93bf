"""What the scripts beside this file share: text between two marks of a document, and charts as SVG."""


def replace_between(document, mark, text, section=""):
    """Puts `text` between the lines `<!-- mark -->` and `<!-- /mark -->` of a document; where they are missing, `section` and
    these lines are added to its end."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    old = document.read_text()
    if begin not in old:
        if not section:
            raise SystemExit(f"{document} has no line {begin}; add it and {end} where the table goes")
        old += f"\n{section}\n\n{begin}\n{end}\n"
    before, behind = old[:old.index(begin) + len(begin)], old[old.index(end):]
    document.write_text(f"{before}\n\n{text}\n{behind}")


def pyplot():
    """matplotlib's, which draws to files and gives the same file for the same figures."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "results", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    from matplotlib import pyplot
    return pyplot


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})

#!/usr/bin/env python3
"""Runs commands in a terminal of 104 columns and draws what they print as an SVG file.

usage: docs/images/terminal_svg.py OUT.svg COMMAND...      (from the root of the project, one quoted command each)
Each line is one <text> element; runs of a colour are placed by column, so that tables align in every monospaced font.
"""
import html
import os
import pty
import re
import sys

COLUMNS, SIZE, LEADING, WIDTH = 104, 14, 19, 8.43
INK = {"1": "font-weight='bold'", "2": "fill='#8b949e'", "31": "fill='#ff7b72'", "32": "fill='#7ee787'",
       "33": "fill='#e3b341'", "34": "fill='#79c0ff'", "36": "fill='#76e3ea'"}


def output(command):
    child, terminal = pty.fork()
    if child == 0:
        os.execv("/bin/sh", ["sh", "-c", f"stty cols {COLUMNS}; TERM=xterm exec {command}"])
    data = b""
    try:
        while chunk := os.read(terminal, 65536):
            data += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    os.waitpid(child, 0)
    return data.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def spans(lines):
    """Yields (row, column, text, style) of lines with ANSI colours; a colour lasts until it is reset."""
    style = ""
    for row, line in enumerate(lines):
        column = 0
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
            if code:
                style = " ".join(INK[c] for c in code[1].split(";") if c in INK)
            for word in re.finditer(r"\S+(?: \S+)*", "" if code else part):
                yield row, column + word.start(), word[0], style
            column += 0 if code else len(part)


def main():
    out, commands = sys.argv[1], sys.argv[2:]
    lines = []
    for command in commands:
        lines += ([""] if lines else []) + [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m"]
        lines += output(command.replace("proprio ", "build/proprio ", 1))
    width = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    w, h = 32 + WIDTH * width, 40 + LEADING * len(lines)
    svg = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {w:.0f} {h}' width='{w:.0f}' height='{h}'>",
           f"<rect width='{w:.0f}' height='{h}' rx='8' fill='#0d1117'/>",
           f"<g font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size='{SIZE}' fill='#e6edf3'>"]
    for row, column, text, style in spans(lines):
        svg.append(f"<text x='{16 + WIDTH * column:.1f}' y='{32 + LEADING * row}' "
                   f"textLength='{WIDTH * len(text):.1f}' {style}>{html.escape(text)}</text>".replace(" >", ">"))
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(svg + ["</g>", "</svg>", ""]))


if __name__ == "__main__":
    main()

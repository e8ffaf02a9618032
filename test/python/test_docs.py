# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference in docs/generated is up to date with the ODS files; the README is correct."""

import re
import subprocess
import sys

import emulated  # noqa: F401  (the device of the README)
from conftest import ROOT, find_tool

PAGES = [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")), *(ROOT / "docs").rglob("*.md")]


def without_blocks(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def generate_docs(*options):
    command = [sys.executable, ROOT / "tools" / "generate-docs", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_reference_is_fresh():
    result = generate_docs("--check")
    assert result.returncode == 0, result.stderr


# The page lists every pipeline of the tool.
def test_pipelines_are_listed():
    text = subprocess.run([find_tool("relax-opt"), "--help"], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^      --(relax-[\w-]+)", text.partition("Pass Pipelines:")[2], re.M)
    page = (ROOT / "docs" / "generated" / "passes.md").read_text()
    assert "relax-cuda-to-llvm" in known
    assert set(known) == set(re.findall(r"^- `--([\w-]+)`", page, re.M))


# The README's code runs; the GPU is emulated.
def test_readme():
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 2
    names = {}
    exec("".join(blocks).replace('"cuda")[', '"cuda:emulated")['), names)
    assert names["y"].shape == (7, 256)
    assert (
        names["device"].get(names["main"](names["x"], names["device"].put(names["np"].ones((128, 256), "f4")))).max()
        == 128
    )


# The map names every folder, and every page.
def test_the_map_is_complete():
    text = (ROOT / "README.md").read_text()
    folders = [f"lib/Target/{path.name}" for path in (ROOT / "lib" / "Target").iterdir() if path.is_dir()]
    pages = [f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")]
    for name in (*folders, *pages, "benchmarks", "examples"):
        assert f"`{name}`" in text or f"({name})" in text, name


def test_staleness_is_noticed_and_repaired(tmp_path):
    assert generate_docs("--output", tmp_path).returncode == 0
    (tmp_path / "types.md").write_text("old\n")
    (tmp_path / "ops" / "core.md").unlink()
    (tmp_path / "ops" / "removed.md").write_text("an op family that is gone\n")
    result = generate_docs("--check", "--output", tmp_path)
    assert result.returncode == 1
    assert "stale: ops/core.md, ops/removed.md, types.md" in result.stderr
    assert "refresh with: make docs" in result.stderr
    assert generate_docs("--output", tmp_path).returncode == 0
    assert generate_docs("--check", "--output", tmp_path).returncode == 0


# docs/runtime.md lists the environment variables that the sources read, and no other.
def test_environment_variables_are_listed():
    read = {
        name
        for folder in ("python", "lib", "tools", "test", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".cpp", ".h", "") and path.is_file() and "conformance" not in path.parts
        for name in re.findall(r"[\"'](RELAX_[A-Z0-9_]+)[\"']", path.read_text(encoding="utf-8", errors="replace"))
    }
    page = (ROOT / "docs" / "runtime.md").read_text()
    listed = re.findall(r"`(RELAX_\w+)`", "\n".join(re.findall(r"^\|(.*?)(?<!\\)\|", page, re.M)))
    assert "RELAX_NUM_THREADS" in read and sorted(listed) == sorted(read)


# "The package opens no network connection", says docs/runtime.md.
def test_nothing_uses_the_network():
    modules = r"^\s*(?:import|from) (?:socket|ssl|urllib|http|ftplib|smtplib|requests|httpx|aiohttp|huggingface_hub)\b"
    for path in (ROOT / "python" / "relax_mlir").rglob("*.py"):
        assert not re.search(modules, path.read_text(), re.M), path
    for path in (path for folder in ("lib", "dialects") for path in (ROOT / folder).rglob("*.cpp")):
        assert not re.search(r"#include <(?:sys/socket|netdb|netinet/\w+|curl/\w+)\.h>", path.read_text()), path


# Links of pages lead to files of the checkout, and to headings of pages.
def test_links():
    anchors = {}
    for page in PAGES:
        headings = re.findall(r"^#+ (.*)$", without_blocks(page.read_text()), re.M)
        plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
        anchors[page] = {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}
    broken = []
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", without_blocks(page.read_text()))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            place = (page.parent / name).resolve() if name else page
            if not place.is_file() or (anchor and anchor not in anchors.get(place, ())):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken, broken


# The site has every page; those of the reference are linked from its first one.
def test_site_has_all_pages():
    listed = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    reference = ROOT / "docs" / "generated"
    expected = [page for page in PAGES if reference not in page.parents] + [reference / "README.md"]
    assert sorted(listed) == sorted(page.relative_to(ROOT).as_posix() for page in expected)

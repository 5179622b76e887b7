# SPDX-License-Identifier: BSD-3-Clause
"""Checks the content and dependencies of the Debian packages: test_debian.py FOLDER VERSION
PARAVIEW."""

import pathlib
import re
import subprocess
import sys

folder, version, paraview = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Package:
    def __init__(self, path):
        self.path = path
        lines = run("dpkg-deb", "--contents", path).splitlines()
        self.files = {line.split()[5][1:]: line for line in lines if not line.startswith("d")}

    def field(self, name):
        return run("dpkg-deb", "--field", self.path, name).strip()

    def has(self, pattern):
        return any(re.fullmatch(pattern, name) for name in self.files)

    def control(self, name):
        return run("dpkg-deb", "--info", self.path, name)


packages = {package.field("Package"): package
            for package in map(Package, sorted(folder.glob("*.deb")))}
names = {"libparabat1", "libparabat-dev", "parabat-tools", "python3-parabat"}
names |= {"paraview-parabat"} if paraview else set()
assert set(packages) == names, set(packages)

# No file is in two packages, none has the name of another project's file, and all lie where Debian
# expects them.
library = "/usr/lib/[^/]+-linux-gnu[^/]*"
seen = {}
for name, package in packages.items():
    assert package.field("Version") == f"{version}-1", package.field("Version")
    assert package.has(f"/usr/share/doc/{name}/copyright"), name
    for file in package.files:
        assert file not in seen, (file, name, seen[file])
        seen[file] = name
        assert file not in ("/usr/bin/bat", "/usr/bin/batcat"), file
        assert not re.fullmatch(r"/usr/lib/python3/dist-packages/bat(\.py|/.*)", file), file

expected = {
    "libparabat1": [f"{library}/libbat_capi\\.so\\.1", f"{library}/libbat_capi\\.so\\.{version}"],
    "libparabat-dev": [f"{library}/libbat_capi\\.so", f"{library}/libbat_core\\.a",
                       f"{library}/cmake/ParaBAT/ParaBATConfig\\.cmake",
                       f"{library}/pkgconfig/parabat\\.pc", "/usr/include/bat/bat\\.h",
                       "/usr/include/bat/version\\.hpp"],
    "parabat-tools": ["/usr/bin/bat_info", "/usr/bin/bat_repack", "/usr/bin/bat_validate"],
    "python3-parabat": ["/usr/lib/python3/dist-packages/parabat/__init__\\.py",
                        "/usr/lib/python3/dist-packages/parabat/_installed\\.py"],
    "paraview-parabat": [f"{library}/paraview-plugins/BATReader/BATReader\\.so",
                         f"{library}/paraview-plugins/BATWriter/BATWriter\\.so",
                         f"{library}/paraview-plugins/bat\\.plugins\\.xml",
                         f"{library}/parabat/convert\\.py"],
}
for name, package in packages.items():
    for pattern in expected[name]:
        assert package.has(pattern), (name, pattern, sorted(package.files))
assert not any(".so" in file for file in packages["parabat-tools"].files)

depends = {name: package.field("Depends") for name, package in packages.items()}
for name in ("libparabat1", "parabat-tools"):
    assert "libc6" in depends[name] and "libxxhash0" in depends[name], depends[name]
assert re.search(r"^libbat_capi 1 libparabat1", packages["libparabat1"].control("shlibs"), re.M)
assert "ldconfig" in packages["libparabat1"].control("postinst")
for name in ("libparabat-dev", "python3-parabat"):
    assert f"libparabat1 (= {version}-1)" in depends[name], depends[name]
assert "python3-numpy" in depends["python3-parabat"]

if paraview:
    plugins = packages["paraview-parabat"]
    major, minor = paraview.split(".")[:2]
    for bound in (f"paraview (>= {major}.{minor})", f"paraview (<< {major}.{int(minor) + 1}~)"):
        assert bound in depends["paraview-parabat"], depends["paraview-parabat"]

    # Runs the package scripts on a file of this test: existing content is kept, and running them
    # twice equals once.
    conf = folder / "paraview.conf"
    scripts = folder / "control"
    run("dpkg-deb", "--control", plugins.path, scripts)
    line = re.search("^line=(.*)$", (scripts / "postinst").read_text(), re.M).group(1)
    assert line in plugins.files, line
    for script in ("postinst", "prerm"):
        text = re.sub("^conf=.*$", f"conf={conf}", (scripts / script).read_text(), flags=re.M)
        (scripts / script).write_text(text)

    def run_script(script, reason):
        run("sh", scripts / script, reason)

    for before in (None, "mine.xml\n", "mine.xml"):
        conf.unlink(missing_ok=True)
        if before is not None:
            conf.write_text(before)
        run_script("postinst", "configure")
        run_script("postinst", "triggered")
        own = [] if before is None else ["mine.xml"]
        assert conf.read_text().splitlines() == own + [line], conf.read_text()
        run_script("prerm", "upgrade")
        assert conf.read_text().splitlines() == own + [line], conf.read_text()
        run_script("prerm", "remove")
        assert (conf.read_text().splitlines() if conf.exists() else []) == own

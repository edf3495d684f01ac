# Sourced by the scripts beside it: `prepare_venv FOLDER [EXTRAS]` makes a virtual environment with the project in it,
# `python_of VERSION` tells the interpreter of a version.

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "error: Python 3.11 or newer is needed and was not found" >&2
    return 1
}

# The command python3.x, or what pyenv or uv has installed and not selected; nothing if there is none.
python_of() {
    local version=$1 candidate
    for candidate in "python$version" "$(pyenv prefix "$version" 2>/dev/null)/bin/python" \
        "$(uv python find --no-project "$version" 2>/dev/null)"; do
        if "$candidate" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1])' "$version" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# The project is installed editable, so only a change of pyproject.toml asks for a new installation.
prepare_venv() {
    local folder=$1 extras=${2:-} python wanted
    python=$(find_python)
    wanted=$("$python" -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' pyproject.toml)
    if [[ -f $folder/stamp && $(<"$folder/stamp") == "$wanted" ]]; then
        return
    fi
    echo "making $folder" >&2
    "$python" -m venv --clear "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".$extras"
    echo "$wanted" >"$folder/stamp"
}

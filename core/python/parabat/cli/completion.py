# SPDX-License-Identifier: BSD-3-Clause
"""parabat completion bash|zsh: prints the shell's completion script for this command.

    eval "$(parabat completion bash)"     in ~/.bashrc, or zsh in ~/.zshrc
"""

import argparse

_BASH = '''_parabat() {
  local word=${COMP_WORDS[COMP_CWORD]} verb= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac
  done
  local options
  case $verb in
@CASES@
    *) options="@VERBS@" ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$word"))
  case $verb in
    "" | completion) ;;
    *) case $word in -*) ;; *) local IFS=$'\n'; COMPREPLY+=($(compgen -f -- "$word")) ;; esac ;;
  esac
}
complete -o filenames -F _parabat parabat
'''


def add_arguments(parser):
    """Adds the arguments of `completion`."""
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(arguments):
    """Returns the exit code."""
    from . import parser_of, verbs  # pylint: disable=import-outside-toplevel
    parsers = next(action for action in parser_of(set(verbs()))._actions  # pylint: disable=protected-access
                   if isinstance(action, argparse._SubParsersAction))  # pylint: disable=protected-access
    cases = []
    for verb, parser in parsers.choices.items():
        words = [word for action in parser._actions  # pylint: disable=protected-access
                 for word in (action.option_strings or action.choices or ())]
        cases.append(f'    {verb}) options="{" ".join(words)}" ;;')
    script = _BASH.replace("@CASES@", "\n".join(cases)).replace(
        "@VERBS@", " ".join([*parsers.choices, "--help", "--version", "--debug"]))
    if arguments.shell == "zsh":
        script = "autoload -U +X bashcompinit && bashcompinit\n" + script
    print(script, end="")
    return 0

/** `completion`: what a shell needs to complete this program's commands, flags and values, written from the program itself. */
import type { Argument, Command, Option } from "commander";
import { choicesOf, oneOf } from "./arguments.ts";

/** What can stand for a value: words to choose from, a file or folder, or anything. */
type Values = { readonly kind: "words"; readonly words: readonly string[] } | { readonly kind: "files" | "folders" | "any" };

interface Flag {
  readonly names: readonly string[];
  readonly description: string;
  /** Null for a switch. */
  readonly values: Values | null;
}

interface Level {
  /** Names of the commands down to it; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  readonly values: Values;
}

const FILES = /^(?:file|image)/;
const FOLDERS = /^(?:dir|folder)/;

function valuesOf(placeholder: string, choices: readonly string[] | undefined): Values {
  if (choices) return { kind: "words", words: choices };
  return { kind: FILES.test(placeholder) ? "files" : FOLDERS.test(placeholder) ? "folders" : "any" };
}

function flagOf({ long, short, flags, description, parseArg }: Option): Flag {
  const placeholder = /[<[]([^>\]]+)/.exec(flags)?.[1];
  return {
    names: [long, short].filter((name) => name !== undefined && name !== null) as string[],
    description,
    values: placeholder === undefined ? null : valuesOf(placeholder, choicesOf(parseArg)),
  };
}

function* levels(command: Command, path = ""): Generator<Level> {
  const shown = command.commands.filter((each) => each.name() !== "help");
  const argument: Argument | undefined = command.registeredArguments[0];
  yield {
    path,
    commands: shown.map((each) => ({ name: each.name(), description: each.description() })),
    flags: [...command.createHelp().visibleOptions(command).map(flagOf)],
    values: argument ? valuesOf(argument.name(), choicesOf(argument.parseArg)) : { kind: "any" },
  };
  for (const each of shown) yield* levels(each, path === "" ? each.name() : `${path} ${each.name()}`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bash(name: string, tree: readonly Level[]): string {
  const complete = (values: Values): string => {
    if (values.kind === "words") return `COMPREPLY=($(compgen -W ${quoted(values.words.join(" "))} -- "$word"))`;
    if (values.kind === "files") return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word"))';
    if (values.kind === "folders") return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word"))';
    return "COMPREPLY=()";
  };
  const paths = tree.filter(({ path }) => path !== "").map(({ path }) => quoted(path.includes(" ") ? path : ` ${path}`));
  const valueCases = tree.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values }) =>
      values === null ? [] : [`    ${names.map((flag) => quoted(`${path}/${flag}`)).join("|")}) ${complete(values)}; return ;;`],
    ),
  );
  const levelCases = tree.map(({ path, commands, flags, values }) => {
    const words = flags.flatMap(({ names }) => names).join(" ");
    const rest: Values = commands.length > 0 ? { kind: "words", words: commands.map((each) => each.name) } : values;
    return `    ${quoted(path)})
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W ${quoted(words)} -- "$word")); else ${complete(rest)}; fi ;;`;
  });
  const own = `_${name.replaceAll("-", "_")}`;
  return `${own}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" path="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${paths.join("|")}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path/\${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases.join("\n")}
  esac
  case "$path" in
${levelCases.join("\n")}
  esac
}
complete -F ${own} ${name}
`;
}

function zsh(name: string, tree: readonly Level[]): string {
  return `#compdef ${name}
autoload -U +X bashcompinit && bashcompinit
${bash(name, tree)}`;
}

function fish(name: string, tree: readonly Level[]): string {
  const at = `__${name.replaceAll("-", "_")}_at`;
  const values = (of: Values | null): string => {
    if (of === null) return "";
    if (of.kind === "words") return ` -x -a ${quoted(of.words.join(" "))}`;
    return of.kind === "any" ? " -x" : of.kind === "files" ? " -r -F" : " -x -a '(__fish_complete_directories)'";
  };
  const lines = tree.flatMap(({ path, commands, flags, values: rest }) => {
    const here = `complete -c ${name} -n ${quoted(`${at} ${path}`.trim())}`;
    return [
      ...commands.map((each) => `${here} -a ${each.name} -d ${quoted(each.description)}`),
      ...(rest.kind === "files" ? [`${here} -F`] : rest.kind === "words" ? [`${here} -a ${quoted(rest.words.join(" "))}`] : []),
      ...flags.map(({ names, description, values: own }) => {
        const spelled = names.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");
        return `${here} ${spelled}${values(own)} -d ${quoted(description)}`;
      }),
    ];
  });
  return `function ${at}
  set -l path
  for word in (commandline -opc)[2..-1]
    if contains -- "$path $word" ${tree.map(({ path }) => quoted(path.includes(" ") ? path : ` ${path}`)).join(" ")}
      set path $path $word
    end
  end
  test "$path" = "$argv"
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

const shells = { bash, zsh, fish } as const;
type Shell = keyof typeof shells;

/** The script for a shell. */
export const completionScript = (shell: Shell, program: Command): string => shells[shell](program.name(), [...levels(program)]);

/** Adds the command; to be added last, so that it knows the others when it runs. */
export function addCompletionCommand(program: Command, done: (exitCode: number) => void): void {
  program
    .command("completion")
    .description("a script for your shell: source <(mineru-diffusion completion bash)")
    .argument("<shell>", "bash, zsh or fish", oneOf(...(Object.keys(shells) as Shell[])))
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, program));
      done(0);
    });
}

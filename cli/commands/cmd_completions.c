/* SPDX-License-Identifier: Apache-2.0
 * qcnn completions: what bash, zsh or fish complete, from the rows of commands and options. */
#include "cli/command.h"

#include <ctype.h>
#include <string.h>

#include "cli/config/schema.h"

/* In single quotes, for all three shells; fish alone takes a backslash there. */
static void quoted(const char *s, bool fish, struct buf *out)
{
	buf_char(out, '\'');
	for (; *s; s++)
		*s == '\'' ? buf_str(out, fish ? "\\'" : "'\\''") : *s == '\\' && fish ? buf_str(out, "\\\\") : buf_char(out, *s);
	buf_char(out, '\'');
}

/* The first clause of a row's text, as a hint; of a long one, whole words. */
static void hint(const char *text, char *out, size_t size)
{
	size_t n = strcspn(text, ".;:");

	while (text[n] && text[n + 1] && text[n + 1] != ' ') /* inside a word, such as run.seed */
		n += 1 + strcspn(text + n + 1, ".;:");
	bool cut = n > size - 1;
	if (cut)
		for (n = size - 4; n && text[n] != ' ';)
			n--;
	memcpy(out, text, n);
	memcpy(out + n, cut ? "..." : "", cut ? 4 : 1);
}

/* Those that stand for several are left to the user. */
static void words_of(const char *values, struct buf *out)
{
	for (const char *p = values; *p; p += *p == '|') {
		size_t n = strcspn(p, "|");

		if (n < 2 || memcmp(p + n - 2, ":N", 2))
			buf_printf(out, "%s%.*s", p == values ? "" : " ", (int)n, p);
		p += n;
	}
}

/* The words that a command's operands begin with: "show RUN | list" has show and list. */
static void verbs_of(const struct command *c, struct buf *out)
{
	for (const char *p = c->about->operands; *p; p += strcspn(p, "|"), p += *p == '|') {
		p += strspn(p, " ");
		size_t n = strcspn(p, " |");
		if (islower((unsigned char)*p))
			buf_printf(out, "%s%.*s", out->len ? " " : "", (int)n, p);
	}
}

/* What --set takes, up to its value. */
static void keys(struct buf *out)
{
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++)
		buf_printf(out, "%s%s=", row > schema_rows ? " " : "", row->path);
}

/* The options of the rows that keys choose from, as --set takes them. */
static void key_options(struct buf *out)
{
	for (const struct schema_row *key = schema_rows; key < schema_rows + KEY_COUNT; key++) {
		const char *name[SCHEMA_NAMES_MAX];
		size_t n = schema_has_rows(key->type) || key->type == TYPE_CALLBACKS
			? schema_names(key, name)
			: 0;
		struct table_row row;

		for (size_t k = 0; k < n; k++)
			for (unsigned o = 0;
				schema_table_row(key->type, name[k], &row) && o < row.noption; o++)
				buf_printf(out, "%s%s.%s.%s=", out->len ? " " : "", key->path,
					row.name, row.option[o].name);
	}
}

/* Words that the value of a key may be, each behind `before`; how many. */
static size_t key_words(const struct schema_row *key, const char *before, struct buf *out)
{
	static const char *const flags[] = { "true", "false" };
	const char *name[SCHEMA_NAMES_MAX];
	size_t n = key->type == TYPE_BOOL ? 2 : schema_names(key, name), words = 0;

	for (size_t k = 0; k < n; k++) {
		const char *word = key->type == TYPE_BOOL ? flags[k] : name[k];

		if (!strchr(word, ':')) /* one that stands for several is left to the user */
			buf_printf(out, "%s%s%s", words++ ? " " : "", before, word);
	}
	return words;
}

/* Keys with their words, for shells that do not split at `=`. */
static void key_values(struct buf *out)
{
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		buf_auto before = BUF_INIT, words = BUF_INIT;

		buf_printf(&before, "%s=", row->path);
		if (key_words(row, before.data, &words))
			buf_printf(out, " %s", words.data);
	}
}

/* Commands that print words, one a line; for all three shells. */
static const char run_names[] = "(echo latest; qcnn runs list 2>/dev/null | sed '1d;s/ .*//')";
static const char codes[] = "(qcnn explain 2>/dev/null | sed 's/ .*//')";

/* The command that prints what a command's operands may be; NULL: none. */
static const char *printed_by(const struct command *c)
{
	const char *operands = c->about->operands;

	return strstr(operands, "RUN") || strstr(operands, "WEIGHTS") || c->bit == COMMAND_WEIGHTS
		? run_names
		: strstr(operands, "CODE") ? codes
					   : NULL;
}

/* May operands of this command be files, too? */
static bool takes_files(const struct command *c)
{
	return c->bit != COMMAND_RUNS && printed_by(c) != codes;
}

static bool is_run(const struct option_row *r)
{
	return r->argument && !strcmp(r->argument, "RUN");
}
static bool sets(const struct option_row *r) { return r->id == OPT_SET || r->id == OPT_SET_INFER; }
static bool is_file(const struct option_row *r)
{
	return r->argument && (strstr(r->argument, "FILE") || strstr(r->argument, "FOLDER"));
}
static bool has_words(const struct option_row *r)
{
	return r->kind == OPTION_CHOICE || (r->kind == OPTION_OPTIONAL && r->values);
}

/* ---- bash ---- */

static void bash_options(unsigned bit, struct buf *out)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if (row->commands & bit)
			buf_printf(out, "--%s%s ", row->name, row->argument ? "=" : "");
}

/* Words for `--name=` and behind `--name`, where they are known. */
static void bash_choices(const char *command, unsigned bit, struct buf *out)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if ((row->commands & bit) && has_words(row)) {
			/* An optional argument is there only behind `=`. */
			buf_printf(out, "    %s:--%s) %swords='", command, row->name,
				row->kind == OPTION_OPTIONAL ? "[[ $sign ]] && " : "");
			words_of(row->values, out);
			buf_str(out, "' ;;\n");
		} else if ((row->commands & bit) && is_run(row)) {
			buf_printf(out, "    %s:--%s) words=$%s ;;\n", command, row->name, run_names);
		}
}

static void bash_keys(struct buf *out)
{
	buf_str(out, "    *:--set | *:-s) words='");
	keys(out);
	buf_str(out, "'\n      [[ $cur == *.*.* ]] && words='");
	buf_auto deep = BUF_INIT;
	key_options(&deep);
	buf_printf(out, "%s' ;;\n", deep.data);
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		buf_auto words = BUF_INIT;

		if (key_words(row, "", &words))
			buf_printf(out, "    *:%s) words='%s' ;;\n", row->path, words.data);
	}
}

/* Behind a command: its verbs, then what a command prints, and files. */
static void bash_operands(struct buf *out)
{
	for (const struct command *c = commands; c->name; c++) {
		buf_auto b = BUF_INIT;

		verbs_of(c, &b);
		if (b.len)
			buf_printf(out, "    %s:1) words='%s' ;;\n", c->name, b.data);
	}
	for (const struct command *c = commands; c->name; c++)
		if (printed_by(c))
			buf_printf(out, "    %s:*) %s=$%s ;;\n", c->name,
				takes_files(c) ? "more" : "words", printed_by(c));
}

static void bash(struct buf *out)
{
	buf_str(out,
		"# bash completion for qcnn; use: eval \"$(qcnn completions bash)\"\n"
		"_qcnn() {\n  local cur=${COMP_WORDS[COMP_CWORD]} cmd= i words= name= sign= nth=0 more=\n"
		"  # `--name=value` may come as three words.\n"
		"  if [[ $cur == = ]]; then name=${COMP_WORDS[COMP_CWORD-1]} cur= sign==\n"
		"  elif (( COMP_CWORD > 1 )) && [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then name=${COMP_WORDS[COMP_CWORD-2]} sign==\n"
		"  else name=${COMP_WORDS[COMP_CWORD-1]}; fi\n"
		"  for (( i = 1; i < COMP_CWORD; i++ )); do\n    case ${COMP_WORDS[i]} in -*) ;; *) cmd=${COMP_WORDS[i]}; break ;; esac\n  done\n"
		"  for (( ; i < COMP_CWORD; i++ )); do [[ ${COMP_WORDS[i]} == -* ]] || (( ++nth )); done\n"
		"  case $cmd:$name in\n");
	bash_keys(out);
	bash_choices("", COMMAND_TOP, out);
	for (const struct command *c = commands; c->name; c++)
		bash_choices(c->name, c->bit, out);
	buf_str(out, "    *) [[ $sign ]] && { COMPREPLY=($(compgen -f -- \"$cur\")); return; } ;;\n  esac\n"
		"  if [[ $words ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		"    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n    return\n  fi\n"
		"  case $cmd:$nth in\n");
	bash_operands(out);
	buf_str(out, "  esac\n  if [[ $words && $cur != -* ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
		"  case $cmd in\n    '') words='help ");
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "%s ", c->name);
	bash_options(COMMAND_TOP, out);
	buf_str(out, "' ;;\n    help) words='");
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "%s ", c->name);
	buf_str(out, "' ;;\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "    %s) words='", c->name);
		bash_options(c->bit, out);
		buf_str(out, "' ;;\n");
	}
	buf_str(out,
		"  esac\n  if [[ $cur == -* || -z $cmd || $cmd == help ]]; then\n"
		"    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		"    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
		"  else\n    COMPREPLY=($(compgen -W \"$more\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n  fi\n}\n"
		"complete -o filenames -F _qcnn qcnn\n");
}

/* ---- zsh ---- */

/* The names of an option for _arguments: '(-n --name)'{-n+,--name=}, '*'{-n+,--name=} if it may be repeated, or --name=. */
static void zsh_names(const struct option_row *r, struct buf *out)
{
	const char *value = !r->argument     ? ""
		: r->kind != OPTION_OPTIONAL ? "="
		: r->values                  ? "=-"
					     : "";

	if (r->letter && r->kind == OPTION_LIST)
		buf_str(out, "'*'");
	else if (r->letter)
		buf_printf(out, "'(-%c --%s)'", r->letter, r->name);
	if (r->letter)
		buf_printf(out, "{-%c%s,--%s%s}", r->letter, r->argument ? "+" : "", r->name, value);
	else
		buf_printf(out, "%s--%s%s", r->kind == OPTION_LIST ? "'*'" : "", r->name, value);
}

/* Its names with '[hint]:ARGUMENT:(words)'. */
static void zsh_option(const struct option_row *r, struct buf *out)
{
	buf_auto b = BUF_INIT;
	char text[80];

	hint(r->text, text, sizeof text);
	for (char *c = text; *c; c++)
		*c = *c == '[' ? '(' : *c == ']' ? ')' : *c;
	buf_printf(&b, "[%s]", text);
	if (has_words(r)) {
		buf_printf(&b, ":%s:(", r->argument);
		words_of(r->values, &b);
		buf_char(&b, ')');
	} else if (sets(r)) {
		buf_printf(&b, ":%s:_qcnn_keys", r->argument);
	} else if (is_run(r)) {
		buf_printf(&b, ":%s:_qcnn_runs", r->argument);
	} else if (r->argument && r->kind != OPTION_OPTIONAL) {
		buf_printf(&b, ":%s:%s", r->argument, is_file(r) ? "_files" : " ");
	}
	buf_str(out, " \\\n        ");
	zsh_names(r, out);
	quoted(b.data, false, out);
}

static void zsh_options(unsigned bit, struct buf *out)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if (row->commands & bit)
			zsh_option(row, out);
}

static void zsh_operands(const struct command *c, struct buf *out)
{
	buf_auto b = BUF_INIT;

	verbs_of(c, &b);
	if (b.len)
		buf_printf(out, " \\\n        '1:what:(%s)'", b.data);
	if (printed_by(c) && !takes_files(c))
		buf_printf(out, " \\\n        \"*:%s:($%s)\" ;;\n",
			printed_by(c) == codes ? "code" : "run", printed_by(c));
	else
		buf_printf(out, " \\\n        '*:file:%s' ;;\n",
			printed_by(c) ? "_qcnn_files" : "_files");
}

static void zsh(struct buf *out)
{
	buf_auto deep = BUF_INIT;

	key_options(&deep);
	key_values(&deep);
	buf_printf(out,
		"#compdef qcnn\n# zsh completion; put it into a file _qcnn in a folder of $fpath, or eval it.\n"
		"_qcnn_keys() { if [[ $PREFIX == *(.*.|=)* ]]; then compadd -S '' -a deep; else compadd -S '' -a keys; fi }\n"
		"_qcnn_runs() { compadd -- $%s }\n"
		"_qcnn_files() { _qcnn_runs; _files }\n",
		run_names);
	buf_str(out, "_qcnn() {\n  local state\n  local -a commands=(");
	for (const struct command *c = commands; c->name; c++) {
		buf_auto b = BUF_INIT;

		buf_printf(&b, "%s:%s", c->name, c->about->summary);
		buf_str(out, "\n    ");
		quoted(b.data, false, out);
	}
	buf_str(out, "\n    'help:describe a command'\n  )\n  local -a keys=(");
	keys(out);
	buf_printf(out, ")\n  local -a deep=(%s)\n  _arguments -C", deep.data);
	zsh_options(COMMAND_TOP, out);
	buf_str(out,
		" \\\n        '1:command:->command' '*::argument:->argument'\n  case $state in\n"
		"  command) _describe command commands ;;\n  argument)\n    case $words[1] in\n"
		"    help) _describe command commands ;;\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "    %s) _arguments", c->name);
		zsh_options(c->bit, out);
		zsh_operands(c, out);
	}
	buf_str(out,
		"    esac ;;\n  esac\n}\nif [ \"$funcstack[1]\" = _qcnn ]; then _qcnn \"$@\"\n"
		"else (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }; compdef _qcnn qcnn; fi\n");
}

/* ---- fish ---- */

static void fish_option(const struct option_row *r, const char *command, struct buf *out)
{
	buf_auto words = BUF_INIT;
	char text[80];

	hint(r->text, text, sizeof text);
	buf_printf(out, "complete -c qcnn -n '%s%s' -l %s", command ? "__fish_seen_subcommand_from " : "__fish_use_subcommand",
		command ? command : "", r->name);
	if (r->letter)
		buf_printf(out, " -s %c", r->letter);
	if (r->kind == OPTION_CHOICE) {
		words_of(r->values, &words);
		buf_printf(out, " -x -a '%s'", words.data);
	} else if (sets(r)) {
		buf_str(out, " -x -a '(__qcnn_keys)'");
	} else if (is_run(r)) {
		buf_printf(out, " -x -a \"%s\"", run_names);
	} else if (r->argument && r->kind != OPTION_OPTIONAL) {
		buf_str(out, is_file(r) ? " -r" : " -x");
	}
	buf_str(out, " -d ");
	quoted(text, true, out);
	buf_char(out, '\n');
}

static void fish_options(unsigned bit, const char *command, struct buf *out)
{
	for (const struct option_row *row = option_rows; row < option_rows + OPT_IDS; row++)
		if (row->commands & bit)
			fish_option(row, command, out);
}

static void fish_operands(const struct command *c, struct buf *out)
{
	buf_auto b = BUF_INIT;

	verbs_of(c, &b);
	if (b.len)
		buf_printf(out, "complete -c qcnn -f -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s' -a '%s'\n", c->name,
			b.data, b.data);
	if (printed_by(c))
		buf_printf(out,
			"complete -c qcnn %s-n '__fish_seen_subcommand_from %s%s%s' -a \"%s\"\n",
			takes_files(c) ? "" : "-f ", c->name,
			b.len ? "; and __fish_seen_subcommand_from " : "", b.len ? b.data : "",
			printed_by(c));
}

static void fish(struct buf *out)
{
	buf_auto deep = BUF_INIT;

	key_options(&deep);
	key_values(&deep);
	buf_printf(out,
		"# fish completion for qcnn; use: qcnn completions fish > ~/.config/fish/completions/qcnn.fish\n"
		"function __qcnn_keys\n  if string match -qr '[.].*[.]|[a-z]=' -- (commandline -ct | string replace -r '^--set=' '')\n"
		"    string split ' ' -- '%s'\n  else\n    string split ' ' -- '",
		deep.data);
	keys(out);
	buf_str(out, "'\n  end\nend\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "complete -c qcnn -f -n __fish_use_subcommand -a %s -d ", c->name);
		quoted(c->about->summary, true, out);
		buf_char(out, '\n');
	}
	fish_options(COMMAND_TOP, NULL, out);
	for (const struct command *c = commands; c->name; c++)
		fish_options(c->bit, c->name, out);
	for (const struct command *c = commands; c->name; c++)
		fish_operands(c, out);
}

static int completions(struct cli *c)
{
	static const struct { const char *name; void (*write)(struct buf *out); } shells[] = {
		{ "bash", bash }, { "zsh", zsh }, { "fish", fish },
	};

	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (!strcmp(shells[i].name, c->options.operand[0])) {
			shells[i].write(&c->out);
			return 0;
		}
	return cli_usage(c, "`%s` is neither bash, zsh nor fish", c->options.operand[0]);
}

const struct command_about command_completions = {
	.summary = "print completions for a shell",
	.operands = "bash | zsh | fish",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Prints a script with which the shell completes the commands, options and option values of qcnn.",
	.example = (const char *const[]){ "qcnn completions bash", "qcnn completions fish", NULL },
	.run = completions,
};

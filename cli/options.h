/* SPDX-License-Identifier: Apache-2.0
 * The command line: rows of options.def, and the values that the user gave.
 *
 * --name=value, --name value, -n value, -nvalue, bundles of flags (-qv), `--` ends
 * the options; options and operands may be mixed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

enum command_number {
	COMMAND_NUMBER_TOP = 0,
#define COMMAND(ID, name) COMMAND_NUMBER_##ID,
#include "cli/commands.def"
#undef COMMAND
	COMMAND_NUMBERS
};

enum command_bit {
	COMMAND_TOP = 1 << COMMAND_NUMBER_TOP, /* before the command's name */
#define COMMAND(ID, name) COMMAND_##ID = 1 << COMMAND_NUMBER_##ID,
#include "cli/commands.def"
#undef COMMAND
	COMMAND_EVERY = (1 << COMMAND_NUMBERS) - 1 - COMMAND_TOP
};

enum option_kind { OPTION_NONE = 0, OPTION_FLAG, OPTION_TEXT, OPTION_LIST, OPTION_CHOICE, OPTION_COUNT, OPTION_OPTIONAL };

/* OPT_GROUP_X is the first option of group X: the enumerator after it begins at the same number again. */
enum option_id {
#define GROUP(id, heading) OPT_GROUP_##id, OPT_BEFORE_##id = OPT_GROUP_##id - 1,
#define OPTION(id, commands, name, letter, argument, kind, values, preset, text) OPT_##id,
#include "cli/options.def"
#undef OPTION
#undef GROUP
	OPT_IDS
};

enum { OPTIONS_LIST_MAX = 64, OPTIONS_OPERANDS_MAX = 4096 };

struct option_row {
	enum option_id id;
	unsigned commands;           /* of enum command_bit */
	const char *name;
	char letter;                 /* 0: none */
	const char *argument;        /* NULL: takes none */
	enum option_kind kind;
	const char *values, *preset; /* preset: the default, or NULL */
	const char *text;
};

struct options {
	const char *value[OPT_IDS];  /* as given, else the row's preset, else NULL; without argument: "" */
	bool given[OPT_IDS];
	struct { enum option_id id; const char *value; } list[OPTIONS_LIST_MAX];   /* LIST options, in order */
	unsigned nlist;
	const char *operand[OPTIONS_OPERANDS_MAX];
	unsigned noperand;
};

extern const struct option_row option_rows[OPT_IDS];

enum { OPTION_GROUPED_FROM = 11 };   /* with fewer options a command's are one list */
/* The heading before option i of a command; NULL if the previous option has the same group, or if there are no groups. */
const char *option_heading(enum command_bit command, int i);

/* Parse arg[0..narg) for one command; *o is filled with presets first.  Returns 0 or
 * -ERR_USAGE with, if one is likely, a suggestion.  stop: end at the first operand
 * (before the command's name); *used counts the words read. */
int options_parse(enum command_bit command, int narg, char *const *arg, bool stop, struct options *o,
	int *used, struct err *e);

/* The value of a COUNT option as a number; the parser has checked its text.  `other`: where it is not given. */
uint64_t options_count(const struct options *o, enum option_id id);
uint64_t options_count_or(const struct options *o, enum option_id id, uint64_t other);
/* Fill value[OPTIONS_LIST_MAX] with the arguments of a LIST option; returns their number. */
unsigned options_list(const struct options *o, enum option_id id, const char **value);
/* Position of a CHOICE option's value among its words. */
unsigned options_choice(const struct options *o, enum option_id id);

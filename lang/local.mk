# SPDX-License-Identifier: Apache-2.0
# The files of lang/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += liblang.a
liblang_a_SOURCES = \
	lang/ast.c \
	lang/ast.def \
	lang/ast.h \
	lang/builtins.c \
	lang/builtins.def \
	lang/builtins.h \
	lang/calls.c \
	lang/channel_calls.c \
	lang/channels.c \
	lang/channels.def \
	lang/channels.h \
	lang/gates.c \
	lang/gates.def \
	lang/gates.h \
	lang/gates_matrix.c \
	lang/gates_matrix.h \
	lang/gates_one.c \
	lang/gates_two.c \
	lang/kinds.c \
	lang/lang.h \
	lang/parser.c \
	lang/parser.h \
	lang/resolve.c \
	lang/resolve.h \
	lang/resolve_decl.c \
	lang/scopes.c \
	lang/syntax.c \
	lang/tokens.def

# Scanner and grammar. The generated files lie in the build folder and are shipped by `make dist`.
# One stamp stands for all of them; it is older than its files, so each is made once.
grammar_files = lang/parse.c lang/parse.h lang/scan.c lang/scan.h
nodist_liblang_a_SOURCES = $(grammar_files)
BUILT_SOURCES += $(grammar_files)
CLEANFILES += lang/grammar.tmp
MAINTAINERCLEANFILES = $(grammar_files) lang/grammar.stamp
EXTRA_DIST += lang/parse.y lang/scan.l lang/grammar.stamp $(grammar_files)

lang/grammar.stamp: lang/parse.y lang/scan.l
	$(AM_V_GEN)$(MKDIR_P) lang && touch lang/grammar.tmp
	$(AM_V_at)$(BISON) -Wall -Werror=conflicts-sr -Werror=conflicts-rr \
		--header=lang/parse.h -o lang/parse.c $(srcdir)/lang/parse.y
	$(AM_V_at)$(FLEX) --header-file=lang/scan.h -o lang/scan.c $(srcdir)/lang/scan.l
	$(AM_V_at)mv -f lang/grammar.tmp $@

$(grammar_files): lang/grammar.stamp
	@test -f $@ || { rm -f lang/grammar.stamp; $(MAKE) $(AM_MAKEFLAGS) lang/grammar.stamp; }

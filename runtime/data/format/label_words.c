/* SPDX-License-Identifier: Apache-2.0
 * The classes that data.label_map lacks. */
#include "runtime/data/format/label_words.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/order.h"

bool label_words_add(struct label_words *w, struct arena *a, const char *word)
{
	for (unsigned i = 0; i < w->n; i++)
		if (!strcmp(w->word[i], word))
			return false;
	if (w->n == LABEL_WORDS_MAX)
		w->more = true;
	else
		w->word[w->n++] = arena_strdup(a, word);
	return w->n == 1 && !w->more;
}

/* As a key of the configuration: in quotes where it is no plain word. */
static void add_key(struct buf *b, const char *word)
{
	bool plain = (*word | 32) >= 'a' && (*word | 32) <= 'z';

	for (const char *c = word; *c; c++)
		plain = plain && (*c == '_' || *c == '-' || ((*c | 32) >= 'a' && (*c | 32) <= 'z') || (*c >= '0' && *c <= '9'));
	if (plain) {
		buf_str(b, word);
		return;
	}
	buf_char(b, '\'');
	for (const char *c = word; *c; c++)
		*c == '\'' ? buf_str(b, "''") : buf_char(b, *c);
	buf_char(b, '\'');
}

void label_words_help(const struct label_words *w, const char *const *known, unsigned nknown)
{
	const char *sorted[LABEL_WORDS_MAX], *near;
	buf_auto b = BUF_INIT;

	if (!w->fault || !w->n)
		return;
	near = known ? diag_nearest(*w->word, known, nknown) : NULL;
	memcpy(sorted, w->word, w->n * sizeof *sorted);
	qsort(sorted, w->n, sizeof *sorted, order_texts);
	for (unsigned i = 0; i < w->n; i++) {
		buf_str(&b, i ? ", " : "");
		add_key(&b, sorted[i]);
		if (!known)
			buf_printf(&b, ": %d", w->n == 2 && !w->more ? 2 * (int)i - 1 : (int)i);
	}
	buf_str(&b, w->more ? ", …" : "");
	if (near)
		diag_help(w->fault, "did you mean `%s`?", near);
	if (known)
		diag_help(w->fault,
			"`data.label_map` has no number for: %s; `'*': null` in it leaves out their samples",
			b.data);
	else
		diag_help(w->fault,
			"`data.label_map` gives classes their numbers: `label_map: {%s}`", b.data);
}

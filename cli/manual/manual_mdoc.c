/* SPDX-License-Identifier: Apache-2.0
 * What manual pages are made of: sentences, arguments and items in mdoc. */
#include "cli/manual/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lang/gates.h"

enum { LINE_MAX_BYTES = 78 };

static bool ends_sentence(const char *word, size_t len)
{
	while (len && (word[len - 1] == ')' || word[len - 1] == '"'))
		len--;
	return len && strchr(".!?", word[len - 1]) && !(len > 2 && word[len - 2] == '.');
}

void mdoc_text(struct buf *out, const char *s)
{
	size_t column = 0;

	while (*s) {
		size_t n = strcspn(s, " \n");

		if (column && column + 1 + n > LINE_MAX_BYTES) {
			buf_char(out, '\n');
			column = 0;
		}
		if (!column && (*s == '.' || *s == '\''))
			buf_str(out, "\\&");
		if (column) {
			buf_char(out, ' ');
			column++;
		}
		for (size_t i = 0; i < n; i++)
			s[i] == '\\' ? buf_str(out, "\\e") : buf_char(out, s[i]);
		column += n;
		if (ends_sentence(s, n)) {
			buf_char(out, '\n');
			column = 0;
		}
		s += n + strspn(s + n, " \n");
	}
	if (column)
		buf_char(out, '\n');
}

/* Does the phrase begin with a name (`cx a, b`, `rz(a)`, `i-th`), whose case means something? */
static bool begins_with_name(const char *phrase)
{
	size_t len = strcspn(phrase, " ,:;.");
	char word[32];
	const char *of;
	uint8_t letters;

	for (size_t i = 0; i < len; i++)
		if (!isalpha((unsigned char)phrase[i]))
			return true;
	if (len >= sizeof word || (len == 1 && *phrase == 'a'))
		return false;
	snprintf(word, sizeof word, "%.*s", (int)len, phrase);
	return len == 1 || (gate_find(word, &letters, &of) && !of && strcmp(word, "swap"));
}

void mdoc_sentence(struct buf *out, const char *phrase)
{
	buf_auto b = BUF_INIT;
	size_t len = strlen(phrase);

	buf_char(&b, begins_with_name(phrase) ? *phrase : toupper((unsigned char)*phrase));
	buf_str(&b, phrase + 1);
	if (!strchr(".!?", phrase[len - 1]) || (len > 3 && phrase[len - 2] == '.'))
		buf_char(&b, '.');
	mdoc_text(out, b.data);
}

void mdoc_argument(struct buf *out, const char *word)
{
	buf_str(out, "\\&");
	for (; *word; word++)
		*word == '\\' ? buf_str(out, "\\e") : *word == '"' ? buf_str(out, "\\(dq") : buf_char(out, *word);
}

void mdoc_item(struct buf *out, const char *name, const char *doc)
{
	buf_str(out, ".It Cm ");
	mdoc_argument(out, name);
	buf_char(out, '\n');
	mdoc_sentence(out, doc);
}

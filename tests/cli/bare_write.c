/* SPDX-License-Identifier: Apache-2.0
 * bare_write FOLDER BYTES COUNT: what it costs at least to replace a file so that it survives a power failure,
 * COUNT times: write, fsync, rename, fsync of the folder. Prints the seconds of one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"

static int replace(const char *bytes, size_t n)
{
	int fd = open("bare.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0666), folder;

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || fsync(fd) || close(fd) || rename("bare.tmp", "bare.bin"))
		return 1;
	folder = open(".", O_RDONLY | O_DIRECTORY);
	return folder < 0 || fsync(folder) || close(folder);
}

int main(int argc, char **argv)
{
	size_t n = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	char *bytes = malloc(n + 1);
	double begin;

	if (!n || !count || !bytes || chdir(argv[1])) {
		fprintf(stderr, "use: bare_write FOLDER BYTES COUNT\n");
		return 2;
	}
	memset(bytes, 7, n);
	begin = clock_seconds();
	for (unsigned long i = 0; i < count; i++)
		if (replace(bytes, n)) {
			perror("bare_write");
			return 1;
		}
	printf("%.9f\n", (clock_seconds() - begin) / (double)count);
	free(bytes);
	return 0;
}

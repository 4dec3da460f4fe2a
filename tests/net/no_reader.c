/* SPDX-License-Identifier: Apache-2.0
 * Makes the socket that is its standard input deaf: who writes to it from then on gets EPIPE, while what is said by it
 * still goes its way. */
#include <sys/socket.h>
#include <unistd.h>

int main(void) { return shutdown(STDIN_FILENO, SHUT_RD) ? 1 : 0; }

// pause: the first process of a pod's sandbox. It holds the namespaces and waits for orphans.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void stop(int number) { exit(number == SIGTERM ? 0 : 1); }
static void reap(int number) {
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  signal(SIGCHLD, reap);
  while (1) pause();
}

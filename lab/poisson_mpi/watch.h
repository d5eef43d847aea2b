// What a rank says when its neighbours' rows do not come: a rank that is gone with its host says nothing any more, and
// mpirun may take minutes to notice.
#pragma once

#include <mpi.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

namespace poisson {

constexpr int kExitLost = 4;  // a neighbour's rows did not come

// One a process: signals have no other way to find it.
class Watch {
 public:
  // hosts: of each rank. patience: seconds that a neighbour's rows may take; 0: for ever.
  Watch(const std::vector<std::string>& hosts, int rank, unsigned patience) : patience_(patience) {
    const int ranks = static_cast<int>(hosts.size());
    up_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down_ = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    who_ = "poisson_mpi: rank " + std::to_string(rank) + " on " + hosts[rank];
    const auto name = [&](int r) { return "rank " + std::to_string(r) + " on " + hosts[r]; };
    const std::string up = up_ == MPI_PROC_NULL ? "" : name(up_), down = down_ == MPI_PROC_NULL ? "" : name(down_);
    waits_for_[kUp] = up;
    waits_for_[kDown] = down;
    waits_for_[kUp | kDown] = up + " and " + down;
    for (int i = 0; i < 4; ++i)
      at_end_[i] = who_ + " was ended by SIGTERM" +
                   (i ? " while it exchanged rows with " + waits_for_[i] : std::string(", not in an exchange")) + "\n";
    the_watch() = this;
    listen(SIGTERM, on_end, &before_);
    listen(SIGALRM, on_alarm, nullptr);
    // A row for a host that has just ended: MPI finds that the connection is gone, and says which it was.
    listen(SIGPIPE, SIG_IGN, nullptr);
  }
  ~Watch() {
    sigaction(SIGTERM, &before_, nullptr);
    the_watch() = nullptr;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  int up() const { return up_; }
  int down() const { return down_; }

  // Before the first of an exchange's requests is made: MPI may connect again to a neighbour that is gone, and be ended
  // in there.
  void begin() {
    missing_ = (up_ != MPI_PROC_NULL ? kUp : 0) | (down_ != MPI_PROC_NULL ? kDown : 0);
    late_ = 0;
    tick(patience_);
  }
  // Until all four are done: the receives from above and below, then the sends.
  void wait_for(MPI_Request (&requests)[4]) {
    for (;;) {
      const auto waits = [&](int i) { return requests[i] != MPI_REQUEST_NULL; };
      missing_ = (up_ != MPI_PROC_NULL && (waits(0) || waits(2)) ? kUp : 0) |
                 (down_ != MPI_PROC_NULL && (waits(1) || waits(3)) ? kDown : 0);
      int count = 0, done[4];
      MPI_Testsome(4, requests, &count, done, MPI_STATUSES_IGNORE);
      if (count == MPI_UNDEFINED) break;
      if (late_ >= kTicks) give_up();
    }
    missing_ = 0;
    tick(0);
  }

 private:
  static constexpr int kUp = 1, kDown = 2;
  // The patience comes as several alarms: a job that is stopped and goes on later gets one for all of that time. And no
  // clock is read, as `warpgrind run` warns of programs that measure the simulation so.
  static constexpr int kTicks = 4;

  static void tick(unsigned patience) {
    constexpr long kMicro = 1000000;
    const long us = patience * kMicro / kTicks;
    const timeval each{us / kMicro, us % kMicro};
    const itimerval timer{each, each};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  [[noreturn]] void give_up() {
    std::fprintf(stderr,
                 "%s: no rows were exchanged with %s for %u s: that rank, its host or the network is gone, or slower "
                 "than --patience %u allows. The job ends here; start it again on hosts that answer (mpirun -H)\n",
                 who_.c_str(), waits_for_[missing_].c_str(), patience_, patience_);
    MPI_Abort(MPI_COMM_WORLD, kExitLost);
    _exit(kExitLost);
  }

  static Watch*& the_watch() {
    static Watch* watch = nullptr;
    return watch;
  }
  static void on_alarm(int) {
    if (Watch* watch = the_watch()) watch->late_ = watch->late_ + 1;
  }
  // mpirun ends all ranks when one is lost. Who was waited for is who is missing, or knows more.
  static void on_end(int signal) {
    if (Watch* watch = the_watch()) {
      const std::string& text = watch->at_end_[watch->missing_];
      // mpirun sends it to the process group, and warpgrind passes on what it gets: once is enough.
      if (!watch->said_.test_and_set() && write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(128 + signal);
      sigaction(signal, &watch->before_, nullptr);  // and what would have happened: warpgrind writes the profile
    }
    raise(signal);
  }
  static void listen(int signal, void (*handler)(int), struct sigaction* before) {
    struct sigaction ours {};
    ours.sa_handler = handler;
    ours.sa_flags = SA_RESTART;
    sigaction(signal, &ours, before);
  }

  int up_, down_;
  unsigned patience_;
  std::string who_, waits_for_[4], at_end_[4];
  struct sigaction before_ {};
  volatile std::sig_atomic_t missing_ = 0, late_ = 0;
  std::atomic_flag said_ = ATOMIC_FLAG_INIT;
};

}  // namespace poisson

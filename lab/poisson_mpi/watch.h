// A watchdog for the exchange of rows: it reports which neighbour's rows do not come. A rank that is lost with its host
// reports nothing, and mpirun may take minutes to notice.
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

constexpr int kExitLost = 4;  // exit code: a neighbour's rows did not come

// One object a process, because signal handlers can reach it only through a global pointer.
class Watch {
 public:
  // hosts: host name of each rank. patience: seconds to wait for a neighbour's rows; 0: for ever.
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
    // A send to a host that has just ended must not kill this rank: MPI then reports which connection is lost.
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

  // Call before the first request of an exchange: MPI may try to reconnect to a lost neighbour and be ended during that
  // call.
  void begin() {
    missing_ = (up_ != MPI_PROC_NULL ? kUp : 0) | (down_ != MPI_PROC_NULL ? kDown : 0);
    late_ = 0;
    tick(patience_);
  }
  // Waits until all four requests are done: the receives from above and below, then the sends.
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
  // The patience is split into several alarms: a job that is stopped and continued gets only one alarm for all of that
  // time. No clock is read, because `warpgrind run` warns about programs that measure the simulation with a clock.
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
  // mpirun ends all ranks when one is lost. The neighbour that this rank waits for is lost, or its own message says
  // more.
  static void on_end(int signal) {
    if (Watch* watch = the_watch()) {
      const std::string& text = watch->at_end_[watch->missing_];
      // The signal comes twice, from mpirun (to the process group) and from warpgrind (which forwards it): report once.
      if (!watch->said_.test_and_set() && write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(128 + signal);
      sigaction(signal, &watch->before_, nullptr);  // then the earlier handler runs: warpgrind writes the profile
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

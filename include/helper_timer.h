// The samples' stop watch: host time in milliseconds.
#ifndef COMMON_HELPER_TIMER_H_
#define COMMON_HELPER_TIMER_H_

#include <chrono>

class StopWatchInterface {
 public:
  virtual ~StopWatchInterface() {}
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual void reset() = 0;
  virtual float getTime() = 0;
  virtual float getAverageTime() = 0;
};
class StopWatchLinux : public StopWatchInterface {
  typedef std::chrono::steady_clock Clock;
  Clock::time_point start_;
  float total_ = 0, last_ = 0;
  bool running_ = false;
  int sessions_ = 0;
  float since() const { return std::chrono::duration<float, std::milli>(Clock::now() - start_).count(); }

 public:
  void start() override {
    start_ = Clock::now();
    running_ = true;
  }
  void stop() override {
    last_ = since();
    total_ += last_;
    running_ = false;
    sessions_++;
  }
  void reset() override {
    total_ = last_ = 0;
    sessions_ = 0;
    start_ = Clock::now();
  }
  float getTime() override { return running_ ? total_ + since() : total_; }
  float getAverageTime() override { return sessions_ ? total_ / static_cast<float>(sessions_) : 0.0f; }
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchLinux;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
#define WG_TIMER(name, function)                 \
  inline bool name(StopWatchInterface** timer) { \
    if (*timer) (*timer)->function();            \
    return true;                                 \
  }
WG_TIMER(sdkStartTimer, start)
WG_TIMER(sdkStopTimer, stop)
WG_TIMER(sdkResetTimer, reset)
#undef WG_TIMER
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getAverageTime() : 0.0f;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getTime() : 0.0f;
}

#endif

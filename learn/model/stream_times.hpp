#pragma once

namespace headrace::model {

/// How a GPU's stream spent its time about one step, by timed events in it. Seconds.
struct StreamTimes {
  double idle_s = 0;  ///< between the end of the step before and the begin of this one; first: 0
  double wait_s = 0;  ///< from then until its batch was made, by other work of the GPU
  double step_s = 0;  ///< from then to its end
};

}  // namespace headrace::model

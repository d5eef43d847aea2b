add_dependencies(${target} test_cases)  # read by hardware_test and opcode_use_test

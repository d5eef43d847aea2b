// Options of the samples' command lines: -name, --name, -name=value; and where data files lie.
#ifndef COMMON_HELPER_STRING_H_
#define COMMON_HELPER_STRING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fstream>
#include <string>

#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, length, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

inline int stringRemoveDelimiter(char delimiter, const char* string) {
  int start = 0;
  while (string[start] == delimiter) start++;
  return start >= static_cast<int>(strlen(string)) ? 0 : start;
}
inline int getFileExtension(char* name, char** extension) {
  char* dot = strrchr(name, '.');
  *extension = dot ? dot + 1 : name;
  return static_cast<int>(strlen(*extension));
}
// The text after "-name" of the first option of that name; NULL: there is none. A name may end in '='.
inline const char* wgOption(int argc, const char** argv, const char* name) {
  std::string wanted = name;
  while (!wanted.empty() && wanted.back() == '=') wanted.pop_back();
  for (int i = 1; i < argc; i++) {
    const char* text = argv[i] + stringRemoveDelimiter('-', argv[i]);
    if (text != argv[i] && !strncasecmp(text, wanted.c_str(), wanted.size()) &&
        (text[wanted.size()] == 0 || text[wanted.size()] == '='))
      return text + wanted.size();
  }
  return NULL;
}
inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) {
  return wgOption(argc, argv, name) != NULL;
}
template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* value) {
  const char* text = wgOption(argc, argv, name);
  if (text && *text == '=') *value = static_cast<T>(atoi(text + 1));
  return text != NULL;
}
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
  const char* text = wgOption(argc, argv, name);
  return text && *text == '=' ? atoi(text + 1) : 0;
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
  const char* text = wgOption(argc, argv, name);
  return text && *text == '=' ? static_cast<float>(atof(text + 1)) : 0.f;
}
inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name, char** value) {
  const char* text = wgOption(argc, argv, name);
  *value = text && *text == '=' ? const_cast<char*>(text + 1) : NULL;
  return *value != NULL;
}
// A data file: as it is named, or in the data folders near the program, here and above. The caller frees it.
inline char* sdkFindFilePath(const char* name, const char* program) {
  std::string folder = program ? program : "";
  const size_t slash = folder.find_last_of('/');
  const std::string base = slash == std::string::npos ? folder : folder.substr(slash + 1);
  folder = slash == std::string::npos ? "" : folder.substr(0, slash + 1);
  const std::string starts[] = {"", folder};
  const std::string places[] = {"",
                                "data/",
                                "../data/",
                                "../../data/",
                                "../../../data/",
                                "../../Common/data/",
                                "../../../Common/data/",
                                "../../../../Common/data/",
                                base + "/data/",
                                "../" + base + "/data/",
                                "../../Samples/" + base + "/data/"};
  for (const std::string& start : starts)
    for (const std::string& place : places) {
      const std::string path = start + place + name;
      if (std::ifstream(path.c_str()).good()) return strdup(path.c_str());
    }
  return NULL;
}

#endif

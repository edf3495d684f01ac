"use strict";
// The parts of a name between which it may be broken: at the ends of its words, as in the tables.
const WORD_ENDS =
  /(?<=[_/:;|])(?=[^\s_./:;|-])|(?<=[A-Za-z0-9][.-])(?=[A-Za-z])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])/;
const breakable = (name) =>
  name.split(WORD_ENDS).flatMap((word, i) => (i ? [document.createElement("wbr"), word] : [word]));

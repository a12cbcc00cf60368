"""Every rule of check_prose.py, broken once in a small tree, must be found with its file and line."""
import unittest

import check_prose
from small_tree import SmallTree


def words(count):
    return " ".join(["word"] * count)


class Rules(SmallTree):
    def expect(self, *starts):
        self.expect_violations(list(check_prose.violations(self.root)), starts)

    def test_short_sentences_pass(self):
        self.write("README.md", f"# Title\nOne is short. {words(25)}.\n\n- {words(25)}.\n")
        self.expect()

    def test_a_long_sentence_is_named_with_the_line_where_it_begins(self):
        text = f"Short ones come first. They\nkeep the mean low.\nThe `one two` word\n{words(57)}.\n" + "\nThis is short.\n" * 9
        self.write("docs/a.md", text)
        self.expect()
        self.write("docs/a.md", text.replace("word.", "word word."))
        self.expect("docs/a.md:3: a sentence of 61 words, 60 allowed; split it: 'The `one two` word word word")

    def test_a_mean_is_of_one_file(self):
        self.write("docs/short.md", "This one is short.\n" * 20)
        self.write("docs/long.md", f"# Title\n{words(26)}.\n\n\nIt has {words(24)}.\n")
        self.expect("docs/long.md:2: 26.0 words a sentence on average, 25 allowed; the longest has 26: 'word word")

    def test_labels_of_items_do_not_lower_the_mean(self):
        self.write("README.md", "".join(f"- **Label.** {words(26)}.\n" for _ in range(3)))
        self.expect("README.md:1: 26.0 words")

    def test_a_sentence_ends_after_marks_and_with_its_item(self):
        for end in (".** ", ".*\n", '." ', ".) ", "! ", "?\n", "\n- ", "\n  1. ", "\n\n", "\n## Title\n", "\n| a | b |\n", "\n```\ncode\n```\n"):
            self.write("README.md", f"{words(25)}{end}{words(25)}.\n")
            found = list(check_prose.violations(self.root))
            self.assertEqual(found, [], end)
        for end in ("; ", ", ", ": ", "\n", ".5 "):
            self.write("README.md", f"{words(25)}{end}{words(25)}.\n")
            self.assertEqual(len(list(check_prose.violations(self.root))), 1, end)

    def test_tables_headings_and_code_are_no_prose(self):
        self.write("README.md", f"# {words(70)}\n| {words(70)} |\n<p>{words(70)}</p>\n```\n{words(70)}\n```\nThis is `{words(70)}`\n`{words(70)}`.\n")
        self.expect()

    def test_a_link_counts_as_its_words(self):
        self.write("README.md", f"{words(24)} [word](docs/a.md).\n")
        self.expect()

    def test_only_the_readme_and_the_docs_are_measured(self):
        for name in ("headrace/core/README.md", "docs/deep/a.md", "CHANGELOG.md"):
            self.write(name, f"{words(70)}.\n")
        self.expect()
        self.write("CONTRIBUTING.md", f"{words(70)}.\n")
        self.expect("CONTRIBUTING.md:1: a sentence of 70", "CONTRIBUTING.md:1: 70.0 words")

    def test_banned_words_are_found_in_every_markdown_file(self):
        for text in ("it is told apart", "a mended file", "it mends that", "it goes by size", "they go\nby size", "runs of before", "Lest it fail",
                     "numbers aside", "| a | written aside |", "# Numbers aside"):
            self.write("headrace/core/README.md", f"A layer.\n\n{text}.\n")
            found = list(check_prose.violations(self.root))
            self.assertEqual(len(found), 1, (text, found))
            self.assertTrue(found[0].startswith("headrace/core/README.md:3: '"), found)

    def test_a_message_says_what_to_write(self):
        self.write("CHANGELOG.md", "It was right. Then `lest.hpp` is\nmended.\n")
        self.expect("CHANGELOG.md:1: 'mended': write fix, repair or correct; in 'Then `lest.hpp` is mended.")

    def test_names_in_code_and_other_words_stay(self):
        self.write("README.md", "The key `told` and `a mend` stay.\n```\ntold aside\n```\nAmendments are set aside. A path [here](told.md). Go, by all means.\n")
        self.expect()

    def test_what_others_wrote_is_left_alone(self):
        self.write("third_party/name/README.md", "It is told.\n")
        self.expect()
        self.write("third_party/README.md", "It is told.\n")
        self.expect("third_party/README.md:1: 'told'")

    def test_a_lone_backtick_hides_nothing_of_other_paragraphs(self):
        self.write("README.md", "A lone ` mark.\n\nIt is told.\n\nAnother ` mark.\n")
        self.expect("README.md:3: 'told'")


if __name__ == "__main__":
    unittest.main()

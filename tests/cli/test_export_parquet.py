"""Tables of findings as Parquet: pyarrow, polars and duckdb read the cells of the CSV, in the same types whatever a table holds."""
import csv
import shutil

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from driving import headrace, json_of, message_of
from results_by_hand import slide_result

HEAD = ["number", "class", "tumour", "pixels", "area_mm2", "centroid_level0_y", "centroid_level0_x", "mean_probability_a,\"b\"", "equivocal_rank"]
TYPES = {"id": pa.string(), "number": pa.int64(), "class": pa.string(), "tumour": pa.bool_(), "pixels": pa.int64(), "area_mm2": pa.float64(),
         "centroid_level0_y": pa.float64(), "centroid_level0_x": pa.float64(), HEAD[7]: pa.float64(), "equivocal_rank": pa.int64()}
ROWS = [
    [1, "pattern3", True, 9007199254740993, 0.1, -2.5, 3, 1e-300, None],
    [2, "größer, \"quoted\"\n腺 🧫", False, 4, None, 0.30000000000000004, 1e22, 1, 2],
    [3, None, None, None, None, None, None, None, None],
]


def write_csv(path, rows, head=HEAD):
    text = {None: "", True: "true", False: "false"}
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *([text.get(c, c) if isinstance(c, bool | None) else c for c in row] for row in rows)])


@pytest.fixture
def folder(tmp_path):
    return slide_result(tmp_path / "results/slide", "scan.svs", (400, 300), 4)[0]


def exported(folder, *more):
    headrace("export", folder, "--as", "parquet", *more)
    return folder / "slide.regions.parquet"


def assert_all_read(path, expected):
    """expected: rows as dictionaries."""
    assert pq.read_table(path).to_pylist() == expected
    assert polars.read_parquet(path).to_dicts() == expected
    found = duckdb.sql(f"select * from '{path}'")
    assert [dict(zip(found.columns, row)) for row in found.fetchall()] == expected
    assert {field.name: field.type for field in pq.read_schema(path)} == TYPES


@pytest.mark.parametrize("rows", [ROWS, ROWS[2:], []], ids=["values", "nulls", "empty"])
def test_cells_are_those_of_the_csv(folder, rows):
    write_csv(folder / "regions.csv", rows)
    assert_all_read(exported(folder), [dict(zip(["id", *HEAD], ["slide", *row])) for row in rows])


def test_many_rows_are_several_row_groups_with_the_same_bytes(folder):
    rows = [[i, f"c{i % 7}" if i % 3 else None, i % 2 == 0 if i % 5 else None, i * i, i / 7 if i % 11 else None, i, -i, 0.5, None]
            for i in range(70001)]
    write_csv(folder / "regions.csv", rows)
    path = exported(folder)
    assert pq.ParquetFile(path).metadata.num_row_groups == 2
    assert_all_read(path, [dict(zip(["id", *HEAD], ["slide", *row])) for row in rows])
    before = path.read_bytes()
    assert exported(folder).read_bytes() == before


def test_files_of_many_images_are_one_table_and_cases_another(folder, tmp_path):
    write_csv(folder / "regions.csv", ROWS)
    other = slide_result(tmp_path / "results/other", "b.svs", (400, 300), 4, name="other")[0]
    write_csv(other / "regions.csv", [])
    write_csv(tmp_path / "results/cases.csv", [["p1", 2, 1.5, None, 5], ["p2", 1, 0, 0.25, None]],
              ["case", "slides", "tissue_mm2", "tumour_share", "grade_group"])
    files = json_of("export", tmp_path / "results", "--as", "parquet", "--out", tmp_path / "out")["files"]
    assert [file["id"] for file in files] == ["other", "slide", None]
    assert duckdb.sql(f"select id, count(*) from '{tmp_path}/out/*.regions.parquet' group by id").fetchall() == [("slide", 3)]
    table = pq.read_table(tmp_path / "out/cases.parquet")
    assert table.to_pylist() == [{"case": "p1", "slides": 2, "tissue_mm2": 1.5, "tumour_share": None, "grade_group": 5},
                                 {"case": "p2", "slides": 1, "tissue_mm2": 0.0, "tumour_share": 0.25, "grade_group": None}]


def test_a_cell_that_is_no_number_is_named(folder):
    shutil.rmtree(folder / "labels")  # the table alone is read
    write_csv(folder / "regions.csv", [[1, "a", True, "many", 0, 0, 0, 0, None]])
    said = message_of(headrace("export", folder, "--as", "parquet", code=1))
    assert "regions.csv, line 2: 'many' can't be a value of column 'pixels'" in said
    assert not list(folder.glob("*parquet*"))

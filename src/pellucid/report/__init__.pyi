from pellucid.report.page import read_cluster_names as read_cluster_names
from pellucid.report.writing import report_html as report_html
from pellucid.report.writing import write_report as write_report

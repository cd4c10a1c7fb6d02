package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	anyFence  = regexp.MustCompile("(?ms)^```.*?^```$")
	inlined   = regexp.MustCompile("`[^`\n]*`")
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	anchorTag = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns what a link into a page may name: its headings as GitHub and
// the registry spell them, and explicit anchors.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(anyFence.ReplaceAllString(page, ""), -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(match[1]), "")
		all[strings.ReplaceAll(slug, " ", "-")] = true
	}
	for _, match := range anchorTag.FindAllStringSubmatch(page, -1) {
		all[match[1]] = true
	}
	return all
}

func TestDocumentationLinksLeadSomewhere(t *testing.T) {
	linked := append(pages(t), "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
	for _, page := range linked {
		text := inlined.ReplaceAllString(anyFence.ReplaceAllString(readFile(t, page), ""), "")
		for _, match := range pageLink.FindAllStringSubmatch(text, -1) {
			if err := followLink(t, page, match[1]); err != "" {
				t.Errorf("%s links to %s: %s", page, match[1], err)
			}
		}
	}
}

// ownFiles begins a link from the registry's pages to a file of this repository.
const ownFiles = "https://github.com/gitpin/terraform-provider-gitpin/tree/main/"

// followLink returns what is wrong with a link to this repository, "" if nothing
// is. Links to other places are not followed.
func followLink(t *testing.T, page, link string) string {
	t.Helper()
	target, anchor, _ := strings.Cut(link, "#")
	switch inside, own := strings.CutPrefix(target, ownFiles); {
	case own:
		target = inside
	case strings.Contains(target, ":"):
		return ""
	case target == "":
		target = page
	default:
		target = path.Join(path.Dir(page), target)
	}
	if found, err := filepath.Glob(filepath.Join(projectRoot, target)); err != nil || len(found) == 0 {
		return "there is no such file"
	}
	if anchor != "" && !anchors(readFile(t, target))[anchor] {
		return "the page has no such heading"
	}
	return ""
}

// foreignHosts are those that the documentation may name besides example.com.
var foreignHosts = []string{
	"github.com", "fluxcd.io", "developer.hashicorp.com", "opentofu.org", "keepachangelog.com", "semver.org",
	"registry.terraform.io", "kubernetes.default.svc",
}

var anyURL = regexp.MustCompile(`\b(?:https?|ssh|git)://[^\s"'` + "`" + `<>)|\]]+`)

// A host in an example must be one that nobody owns.
func TestDocumentationNamesNoHostOfOthers(t *testing.T) {
	for _, page := range append(pages(t), filesUnder(t, "examples", ".tf")...) {
		for _, text := range anyURL.FindAllString(readFile(t, page), -1) {
			u, err := url.Parse(text)
			if err != nil || strings.Trim(u.Host, "…,.") == "" || u.Host == "h" || slices.Contains(foreignHosts, u.Hostname()) {
				continue
			}
			if host := strings.ToLower(u.Hostname()); host != "example.com" && !strings.HasSuffix(host, ".example.com") {
				t.Errorf("%s names %s", page, text)
			}
		}
	}
}

// What stands in a template must stand in the page made from it, or the page is
// stale and its blocks were not judged.
func TestTemplatesAreInTheGeneratedPages(t *testing.T) {
	for _, template := range filesUnder(t, "templates", ".md.tmpl") {
		page := "docs/" + strings.TrimSuffix(strings.TrimPrefix(template, "templates/"), ".tmpl")
		text := readFile(t, page)
		for _, block := range blocks(readFile(t, template)) {
			if !strings.Contains(text, block) {
				t.Errorf("%s lacks a block of its template: run make docs", page)
			}
		}
	}
}

func TestDocumentationQuotesTheDecisionTable(t *testing.T) {
	table := readFile(t, "internal/pinning/testdata/decide.md")
	if !strings.Contains(readFile(t, "docs/guides/how-a-pin-decides.md"), strings.TrimSpace(table)) {
		t.Error("docs/guides/how-a-pin-decides.md does not quote the table that the code is tested against: run make docs")
	}
}

// summaryAt is the position of the summary among the arguments of what makes a
// diagnostic.
var summaryAt = map[string]int{
	"NewErrorDiagnostic": 0, "NewWarningDiagnostic": 0, "AddError": 0, "AddWarning": 0, "AddAttributeError": 1, "AddAttributeWarning": 1,
}

// summariesInCode returns the literal parts of all summaries that this package
// makes.
func summariesInCode(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
					if at, makes := summaryAt[selector.Sel.Name]; makes && at < len(call.Args) {
						literals(call.Args[at], found)
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// literals adds the texts in an expression such as what+" has moved".
func literals(e ast.Expr, into map[string]bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				into[strings.TrimSpace(text)] = true
			}
		}
		return true
	})
}

func TestTroubleshootingNamesEverySummary(t *testing.T) {
	page := readFile(t, "docs/guides/troubleshooting.md")
	all := summariesInCode(t)
	for _, summary := range summaries {
		all = append(all, summary)
	}
	for _, text := range noteText {
		all = append(all, text[0])
	}
	if len(all) < 30 {
		t.Fatalf("only %d summaries were found in the code: %q", len(all), all)
	}
	for _, summary := range all {
		if !strings.Contains(page, "**"+summary) && !strings.Contains(page, summary+"**") {
			t.Errorf("templates/guides/troubleshooting.md does not say what %q means", summary)
		}
	}
}

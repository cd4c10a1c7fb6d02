package provider

import (
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// dataSourceSelector returns the attributes of selectorModel for a data source.
func dataSourceSelector() map[string]datasource.Attribute {
	return map[string]datasource.Attribute{
		"url":                 datasource.StringAttribute{Required: true, MarkdownDescription: urlDoc},
		"branch":              datasource.StringAttribute{Optional: true, MarkdownDescription: branchDoc},
		"tag":                 datasource.StringAttribute{Optional: true, MarkdownDescription: tagDoc},
		"ref":                 datasource.StringAttribute{Optional: true, MarkdownDescription: refDoc},
		"semver":              datasource.StringAttribute{Optional: true, MarkdownDescription: semverDoc},
		"include_prereleases": datasource.BoolAttribute{Optional: true, MarkdownDescription: prereleases},
		"tag_filter": datasource.SingleNestedAttribute{
			Optional: true, MarkdownDescription: tagFilterDoc,
			Attributes: map[string]datasource.Attribute{
				"pattern": datasource.StringAttribute{Required: true, MarkdownDescription: patternDoc},
				"extract": datasource.StringAttribute{Optional: true, MarkdownDescription: extractDoc},
			},
		},
	}
}

// resourceSelector returns the attributes of selectorModel for a resource.
func resourceSelector() map[string]resource.Attribute {
	return map[string]resource.Attribute{
		"url":                 resource.StringAttribute{Optional: true, MarkdownDescription: urlDoc},
		"branch":              resource.StringAttribute{Optional: true, MarkdownDescription: branchDoc},
		"tag":                 resource.StringAttribute{Optional: true, MarkdownDescription: tagDoc},
		"ref":                 resource.StringAttribute{Optional: true, MarkdownDescription: refDoc},
		"semver":              resource.StringAttribute{Optional: true, MarkdownDescription: semverDoc},
		"include_prereleases": resource.BoolAttribute{Optional: true, MarkdownDescription: prereleases},
		"tag_filter": resource.SingleNestedAttribute{
			Optional: true, MarkdownDescription: tagFilterDoc,
			Attributes: map[string]resource.Attribute{
				"pattern": resource.StringAttribute{Required: true, MarkdownDescription: patternDoc},
				"extract": resource.StringAttribute{Optional: true, MarkdownDescription: extractDoc},
			},
		},
	}
}
